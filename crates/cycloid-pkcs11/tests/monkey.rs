//! Random calls: every function in any order, from several threads, with arguments that are valid,
//! invalid, null, or meant for another call. The module must answer each, and never with the code
//! of a panic.

#[macro_use]
mod common;
#[path = "support/dice.rs"]
mod dice;

use std::collections::BTreeMap;
use std::ptr::null_mut as n;
use std::sync::atomic::{AtomicBool, Ordering};

use common::daemon::USER_PIN;
use common::{Mood, TestBed};
use cryptoki_sys::*;
use cycloid_hsm::attribute::cka;
use cycloid_hsm::mechanism::{OFFERED, ckm};
use dice::Dice;

/// The size in bytes of every buffer; every length is within it or impossible.
const ROOM: usize = 4096;

/// The arguments of one thread's calls.
struct Hand {
    dice: Dice,
    sessions: Vec<u64>,
    buffers: [Vec<u8>; 2],
    numbers: [CK_ULONG; 2],
    attributes: Vec<CK_ATTRIBUTE>,
    mechanism: CK_MECHANISM,
    mechanisms: [CK_MECHANISM_TYPE; 64],
    gcm: CK_GCM_MESSAGE_PARAMS,
    ccm: CK_CCM_MESSAGE_PARAMS,
}

impl Hand {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            sessions: vec![0],
            buffers: [vec![0; ROOM], vec![0; ROOM]],
            numbers: [0; 2],
            attributes: Vec::new(),
            mechanism: common::mechanism(0),
            mechanisms: [0; 64],
            gcm: CK_GCM_MESSAGE_PARAMS::default(),
            ccm: CK_CCM_MESSAGE_PARAMS::default(),
        }
    }

    /// Returns this mechanism, mostly.
    fn likely(&mut self, number: u32) -> *mut CK_MECHANISM {
        if self.dice.below(4) == 0 {
            return self.mechanism();
        }
        self.mechanism = common::mechanism(number);
        &raw mut self.mechanism
    }

    /// Returns the parameter of a message and its length.
    fn message(&mut self) -> (*mut std::ffi::c_void, CK_ULONG) {
        let (vector, tag) = (self.bytes(0), self.bytes(1));
        let length = self.dice.one_of(&[12, 12, 12, 13, 0, CK_ULONG::MAX]);
        let tag_length = self.dice.one_of(&[16, 16, 12, 7, CK_ULONG::MAX]);
        let (fixed, generator) = (self.dice.one_of(&[0, 32, 97]), self.dice.below(5));
        self.gcm = CK_GCM_MESSAGE_PARAMS {
            pIv: vector,
            ulIvLen: length,
            ulIvFixedBits: fixed,
            ivGenerator: generator,
            pTag: tag,
            ulTagBits: tag_length.wrapping_mul(8),
        };
        self.ccm = CK_CCM_MESSAGE_PARAMS {
            ulDataLen: 16,
            pNonce: vector,
            ulNonceLen: length,
            ulNonceFixedBits: fixed,
            nonceGenerator: generator,
            pMAC: tag,
            ulMACLen: tag_length,
        };
        match self.dice.below(20) {
            0 => (n(), self.dice.one_of(&[0, 48, 56])),
            1 => ((&raw mut self.gcm).cast(), self.dice.one_of(&[0, 1, 47])),
            at if at < 14 => ((&raw mut self.gcm).cast(), 48),
            _ => ((&raw mut self.ccm).cast(), 56),
        }
    }

    /// Calls a function for messages, for a saved state or for a slot event.
    fn call_later(&mut self, bed: &TestBed, s: u64) -> CK_RV {
        let (key, count) = (self.object(), self.length());
        let (data, out, place) = (self.bytes(0), self.bytes(1), self.place(0));
        let flags = self.dice.one_of(&[0, 1, 1, 2]);
        match self.dice.below(32) {
            0 => call!(bed, C_GetOperationState(s, out, place)),
            1 => call!(bed, C_SetOperationState(s, data, count, key / 10, 0)),
            2 => call!(bed, C_WaitForSlotEvent(CKF_DONT_BLOCK, place, n())),
            3..=5 => call!(bed, C_MessageEncryptInit(s, self.likely(ckm::AES_GCM), key)),
            6 | 7 => {
                let (message, size) = self.message();
                call!(bed, C_EncryptMessage(s, message, size, data, 16, data, count, out, place))
            }
            8 => {
                let (message, size) = self.message();
                call!(bed, C_EncryptMessageBegin(s, message, size, data, count))
            }
            9 | 10 => {
                let (message, size) = self.message();
                call!(bed, C_EncryptMessageNext(s, message, size, data, count, out, place, flags))
            }
            11 => call!(bed, C_MessageEncryptFinal(s)),
            12 | 13 => call!(bed, C_MessageDecryptInit(s, self.likely(ckm::AES_GCM), key)),
            14 => {
                let (message, size) = self.message();
                call!(bed, C_DecryptMessage(s, message, size, data, 16, data, count, out, place))
            }
            15 => {
                let (message, size) = self.message();
                call!(bed, C_DecryptMessageBegin(s, message, size, data, count))
            }
            16 => {
                let (message, size) = self.message();
                call!(bed, C_DecryptMessageNext(s, message, size, data, count, out, place, flags))
            }
            17 => call!(bed, C_MessageDecryptFinal(s)),
            18 | 19 => call!(bed, C_MessageSignInit(s, self.likely(ckm::SHA256_HMAC), key)),
            20 => call!(bed, C_SignMessage(s, n(), 0, data, count, out, place)),
            21 => call!(bed, C_SignMessageBegin(s, n(), flags)),
            22 => {
                let place = if flags == 0 { n() } else { place };
                call!(bed, C_SignMessageNext(s, n(), 0, data, count, out, place))
            }
            23 => call!(bed, C_MessageSignFinal(s)),
            24 => call!(bed, C_MessageVerifyInit(s, self.likely(ckm::SHA256_HMAC), key)),
            25 => call!(bed, C_VerifyMessage(s, n(), 0, data, count, out, self.length())),
            26 => call!(bed, C_VerifyMessageBegin(s, n(), 0)),
            27 => call!(bed, C_VerifyMessageNext(s, n(), 0, data, count, out, self.length())),
            28 => call!(bed, C_MessageVerifyFinal(s)),
            29 => call!(bed, C_VerifySignatureInit(s, self.mechanism(), key, data, count)),
            30 => call!(bed, C_VerifySignature(s, data, count)),
            _ => match flags {
                0 => call!(bed, C_VerifySignatureFinal(s)),
                _ => call!(bed, C_VerifySignatureUpdate(s, data, count)),
            },
        }
    }

    fn object(&mut self) -> u64 {
        self.dice.below(12)
    }

    /// Returns a length, mostly one that the buffers have.
    fn length(&mut self) -> CK_ULONG {
        let impossible = self.dice.one_of(&[CK_ULONG::MAX, 1 << 62, CK_ULONG::MAX - 3]);
        match self.dice.below(40) {
            0 => impossible,
            at if at < 20 => self.dice.one_of(&[0, 1, 12, 16, 20, 32, 64, 256]),
            _ => self.dice.below(ROOM as u64),
        }
    }

    fn bytes(&mut self, at: usize) -> *mut u8 {
        if self.dice.below(10) == 0 { n() } else { self.buffers[at].as_mut_ptr() }
    }

    /// Returns a pointer to a length that the buffers have.
    fn place(&mut self, at: usize) -> *mut CK_ULONG {
        self.numbers[at] = self.dice.below(ROOM as u64);
        if self.dice.below(30) == 0 { n() } else { &raw mut self.numbers[at] }
    }

    fn template(&mut self) -> (*mut CK_ATTRIBUTE, CK_ULONG) {
        let numbers = [
            cka::CLASS,
            cka::TOKEN,
            cka::LABEL,
            cka::KEY_TYPE,
            cka::MODULUS,
            cka::SIGN,
            cka::VALUE,
            cka::WRAP_TEMPLATE,
            cka::EC_PARAMS,
            0xffff_ffff,
        ];
        self.attributes.clear();
        for _ in 0..self.dice.below(4) {
            let mut attribute = common::attribute(self.dice.one_of(&numbers), b"");
            attribute.pValue = self.bytes(1).cast();
            attribute.ulValueLen = self.length();
            self.attributes.push(attribute);
        }
        let count = self.attributes.len() as CK_ULONG;
        match self.dice.below(20) {
            0 => (n(), count),
            1 => (self.attributes.as_mut_ptr(), CK_ULONG::MAX),
            _ => (self.attributes.as_mut_ptr(), count),
        }
    }

    fn mechanism(&mut self) -> *mut CK_MECHANISM {
        let offered: Vec<u32> = OFFERED.iter().map(|offered| offered.number).collect();
        self.mechanism = common::mechanism(self.dice.one_of(&offered));
        if self.dice.below(2) == 0 {
            // Structures of zeros, with null pointers.
            self.mechanism.pParameter = self.bytes(1).cast();
            self.mechanism.ulParameterLen = self.dice.one_of(&[8, 16, 24, 40, 48]);
            self.buffers[1].fill(0);
        }
        if self.dice.below(20) == 0 { n() } else { &raw mut self.mechanism }
    }

    /// Makes one call. Sessions that have ended are mostly dropped, one entry at a time: handles
    /// repeat after the module has started again.
    fn play(&mut self, bed: &TestBed) -> CK_RV {
        let at = self.dice.below(self.sessions.len() as u64) as usize;
        let code = self.call(bed, self.sessions[at]);
        if code == CKR_SESSION_HANDLE_INVALID && self.sessions.len() > 2 {
            self.sessions.swap_remove(at);
        }
        code
    }

    fn call(&mut self, bed: &TestBed, s: u64) -> CK_RV {
        let (key, count) = (self.object(), self.length());
        let (data, out) = (self.bytes(0), self.bytes(1));
        let (place, object) = (self.place(0), self.place(1));
        match self.dice.below(64) {
            0..=2 => {
                let (code, session) = bed.try_open(self.dice.below(2) == 0);
                if code == CKR_OK {
                    self.sessions.push(session);
                }
                code
            }
            3 => call!(bed, C_CloseSession(s)),
            4 => match self.dice.below(20) {
                0 => call!(bed, C_CloseAllSessions(0)),
                _ => CKR_OK,
            },
            5..=7 => {
                let user = self.dice.one_of(&[CKU_USER, CKU_USER, CKU_CONTEXT_SPECIFIC]);
                bed.login(s, user, USER_PIN)
            }
            8 => call!(bed, C_Logout(s)),
            9 => call!(bed, C_GetMechanismList(0, self.mechanisms.as_mut_ptr(), &mut 64)),
            10 => call!(bed, C_GetTokenInfo(0, &mut CK_TOKEN_INFO::default())),
            11 => call!(bed, C_GetSessionInfo(s, &mut CK_SESSION_INFO::default())),
            12 => call!(bed, C_SessionCancel(s, count)),
            13 => {
                let (list, count) = self.template();
                call!(bed, C_CreateObject(s, list, count, object))
            }
            14 => {
                let (list, count) = self.template();
                call!(bed, C_CopyObject(s, key, list, count, object))
            }
            15 => call!(bed, C_DestroyObject(s, key + 8)),
            16 => call!(bed, C_GetObjectSize(s, key, place)),
            17 => {
                let (list, count) = self.template();
                call!(bed, C_GetAttributeValue(s, key, list, count))
            }
            18 => {
                let (list, count) = self.template();
                call!(bed, C_SetAttributeValue(s, key + 8, list, count))
            }
            19 => {
                let (list, count) = self.template();
                call!(bed, C_FindObjectsInit(s, list, count))
            }
            20 => call!(bed, C_FindObjects(s, self.mechanisms.as_mut_ptr(), 64, place)),
            21 => call!(bed, C_FindObjectsFinal(s)),
            22 | 23 => call!(bed, C_EncryptInit(s, self.mechanism(), key)),
            24 => call!(bed, C_Encrypt(s, data, count, out, place)),
            25 => call!(bed, C_EncryptUpdate(s, data, count, out, place)),
            26 => call!(bed, C_EncryptFinal(s, out, place)),
            27 | 28 => call!(bed, C_DecryptInit(s, self.mechanism(), key)),
            29 => call!(bed, C_Decrypt(s, data, count, out, place)),
            30 => call!(bed, C_DecryptUpdate(s, data, count, out, place)),
            31 => call!(bed, C_DecryptFinal(s, out, place)),
            32 => call!(bed, C_DigestInit(s, self.mechanism())),
            33 => call!(bed, C_Digest(s, data, count, out, place)),
            34 => call!(bed, C_DigestUpdate(s, data, count)),
            35 => call!(bed, C_DigestFinal(s, out, place)),
            36 | 37 => call!(bed, C_SignInit(s, self.mechanism(), key)),
            38 => call!(bed, C_Sign(s, data, count, out, place)),
            39 => call!(bed, C_SignUpdate(s, data, count)),
            40 => call!(bed, C_SignFinal(s, out, place)),
            41 => call!(bed, C_VerifyInit(s, self.mechanism(), key)),
            42 => call!(bed, C_Verify(s, data, count, out, self.length())),
            43 => call!(bed, C_VerifyUpdate(s, data, count)),
            44 => call!(bed, C_VerifyFinal(s, data, count)),
            45 => {
                let (list, count) = self.template();
                call!(bed, C_GenerateKey(s, self.mechanism(), list, count, object))
            }
            46 => {
                let (list, count) = self.template();
                let how = self.mechanism();
                call!(bed, C_GenerateKeyPair(s, how, list, count, list, count, object, place))
            }
            47 => call!(bed, C_WrapKey(s, self.mechanism(), key, key, out, place)),
            48 => {
                let ((list, many), how) = (self.template(), self.mechanism());
                call!(bed, C_UnwrapKey(s, how, key, data, count, list, many, object))
            }
            49 => {
                let (list, count) = self.template();
                call!(bed, C_DeriveKey(s, self.mechanism(), key, list, count, object))
            }
            50 => call!(bed, C_GenerateRandom(s, out, count)),
            51 => call!(bed, C_SetPIN(s, data, count, out, count)),
            _ => self.call_later(bed, s),
        }
    }
}

#[test]
fn every_call_returns_an_ordinary_code() {
    let (bed, session) = TestBed::logged_in();
    let codes: Vec<BTreeMap<CK_RV, usize>> = std::thread::scope(|scope| {
        let play = |seed: u64| {
            let mut hand = Hand::new(0x9e37_79b9_7f4a_7c15 ^ seed << 32);
            hand.sessions.push(session);
            let mut codes = BTreeMap::<CK_RV, usize>::new();
            for at in 0..25_000 {
                let code = hand.play(&bed);
                assert_ne!(code, CKR_GENERAL_ERROR, "call {at} of thread {seed}");
                *codes.entry(code).or_default() += 1;
            }
            codes
        };
        let threads: Vec<_> = (1..5).map(|seed| scope.spawn(move || play(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for codes in codes {
        // Enough calls succeed, and there are many kinds of refusals.
        assert!(codes[&CKR_OK] > 4000 && codes.len() >= 20, "{codes:x?}");
    }
}

#[test]
fn every_call_returns_an_ordinary_code_whatever_the_daemon_answers() {
    let (bed, session) = TestBed::logged_in();
    let mut hand = Hand::new(4711);
    hand.sessions.push(session);
    let mut codes = BTreeMap::<CK_RV, usize>::new();
    let moods = [
        Mood::Wrong,
        Mood::RefusesWithZero,
        Mood::WrongLength,
        Mood::NoMessage,
        Mood::NoFrame,
        Mood::HangsUp,
    ];
    for at in 0..25_000 {
        let mood = if at % 3 == 0 { hand.dice.one_of(&moods) } else { Mood::Sound };
        bed.daemon.set_mood(mood);
        let code = hand.play(&bed);
        assert_ne!(code, CKR_GENERAL_ERROR, "call {at}");
        *codes.entry(code).or_default() += 1;
    }
    assert!(codes[&CKR_OK] > 2000 && codes.len() >= 20, "{codes:x?}");
    assert!(codes[&CKR_DEVICE_REMOVED] > 100 && codes[&CKR_DEVICE_ERROR] > 100, "{codes:x?}");
}

#[test]
fn finalise_and_fork_during_calls_are_harmless() {
    let (bed, _) = TestBed::logged_in();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 1..4 {
            let (bed, done) = (&bed, &done);
            scope.spawn(move || {
                let mut hand = Hand::new(seed);
                hand.sessions.push(1);
                while !done.load(Ordering::Relaxed) {
                    assert_ne!(hand.play(bed), CKR_GENERAL_ERROR);
                }
            });
        }
        for _ in 0..40 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            fork_during_calls(&bed);
            must!(bed, C_Finalize(n()));
            std::thread::sleep(std::time::Duration::from_millis(1));
            must!(bed, C_Initialize(n()));
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Locks that other threads hold at the fork stay locked in the child.
fn fork_during_calls(bed: &TestBed) {
    // SAFETY: the child calls the module and then exits without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: a child that waits for a lock is ended by a signal.
        unsafe { libc::alarm(600) };
        let mut info = CK_SESSION_INFO::default();
        let steps = [
            call!(bed, C_GetSessionInfo(1, &raw mut info)) == CKR_CRYPTOKI_NOT_INITIALIZED,
            call!(bed, C_CloseAllSessions(0)) == CKR_CRYPTOKI_NOT_INITIALIZED,
            call!(bed, C_Finalize(n())) == CKR_CRYPTOKI_NOT_INITIALIZED,
            call!(bed, C_Initialize(n())) == CKR_OK,
            bed.try_open(true).0 == CKR_OK,
            call!(bed, C_Finalize(n())) == CKR_OK,
        ];
        let failed = steps.iter().position(|well| !well).map_or(0, |step| step as i32 + 1);
        // SAFETY: it ends the process.
        unsafe { libc::_exit(failed) };
    }
    let mut status = 0;
    // SAFETY: the child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "a step in the child, or the signal that ended it");
}
