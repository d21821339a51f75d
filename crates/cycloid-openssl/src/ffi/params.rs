//! Parameters: reading those that OpenSSL passes, filling those that it asks for, and building
//! arrays of our own.

use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::marker::PhantomData;

use zeroize::{Zeroize, Zeroizing};

use super::abi::{
    INTEGER, OCTET_POINTER, OCTET_STRING, Param, UNMODIFIED, UNSIGNED_INTEGER, UTF8_POINTER,
    UTF8_STRING,
};

/// An array of parameters from OpenSSL, which may be absent.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a> {
    first: *const Param,
    lifetime: PhantomData<&'a Param>,
}

impl<'a> Params<'a> {
    /// Wraps an array, or null.
    ///
    /// # Safety
    /// `first` is null or points to an array that ends with a null key. Array and values live for
    /// `'a`.
    pub(crate) const unsafe fn from_raw(first: *const Param) -> Self {
        Self { first, lifetime: PhantomData }
    }

    /// Returns the first element, for OpenSSL.
    pub(crate) const fn as_ptr(&self) -> *const Param {
        self.first
    }

    /// Returns the parameters one by one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            // SAFETY: `next` is null or within the array, whose last element has a null key.
            unsafe {
                if next.is_null() || (*next).key.is_null() {
                    return None;
                }
                let value = Value { param: &*next };
                next = next.add(1);
                Some(value)
            }
        })
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns the parameter with a name.
    pub(crate) fn find(&self, name: &str) -> Option<Value<'a>> {
        self.iter().find(|value| value.name() == name.as_bytes())
    }
}

/// A parameter with its value.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    param: &'a Param,
}

impl<'a> Value<'a> {
    /// Returns the name.
    pub(crate) fn name(&self) -> &'a [u8] {
        // SAFETY: a key is a string that lives as long as the array.
        unsafe { CStr::from_ptr(self.param.key) }.to_bytes()
    }

    /// Returns the bytes of the value, of whatever type.
    fn contents(&self) -> Option<&'a [u8]> {
        let Param { data_type, data, data_size, .. } = *self.param;
        let data = match data_type {
            UTF8_POINTER | OCTET_POINTER if !data.is_null() => {
                // SAFETY: parameters of these types hold the address of a pointer.
                unsafe { *data.cast::<*const u8>() }
            }
            _ => data.cast_const().cast(),
        };
        if data.is_null() {
            return (data_size == 0).then_some(&[]);
        }
        // SAFETY: OpenSSL gives `data_size` bytes, at most the greatest length of an object.
        (data_size <= isize::MAX as usize)
            .then(|| unsafe { std::slice::from_raw_parts(data, data_size) })
    }

    /// Returns the value of an octet string.
    pub(crate) fn bytes(&self) -> Option<&'a [u8]> {
        matches!(self.param.data_type, OCTET_STRING | OCTET_POINTER)
            .then(|| self.contents())
            .flatten()
    }

    /// Returns the value of a text, without its terminator.
    pub(crate) fn text(&self) -> Option<&'a str> {
        let contents = matches!(self.param.data_type, UTF8_STRING | UTF8_POINTER)
            .then(|| self.contents())
            .flatten()?;
        let length = contents.iter().position(|byte| *byte == 0).unwrap_or(contents.len());
        std::str::from_utf8(&contents[..length]).ok()
    }

    /// Returns the value of an unsigned integer of any length, big-endian.
    pub(crate) fn integer(&self) -> Option<Zeroizing<Vec<u8>>> {
        if self.param.data_type != UNSIGNED_INTEGER {
            return None;
        }
        let mut bytes = Zeroizing::new(self.contents()?.to_vec());
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        Some(bytes)
    }

    /// Returns the value of an integer, signed or not.
    pub(crate) fn number(&self) -> Option<i64> {
        let contents = self.contents()?;
        match (self.param.data_type, contents.len()) {
            (INTEGER, 4) => Some(i32::from_ne_bytes(contents.try_into().ok()?).into()),
            (INTEGER, 8) => Some(i64::from_ne_bytes(contents.try_into().ok()?)),
            (UNSIGNED_INTEGER, 1..) => {
                let bytes = self.integer()?;
                let kept = bytes.iter().skip_while(|byte| **byte == 0);
                kept.clone().count().le(&8).then_some(())?;
                kept.fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)).try_into().ok()
            }
            _ => None,
        }
    }
}

/// An array of parameters that OpenSSL asks to be filled.
pub(crate) struct Requests<'a> {
    first: *mut Param,
    lifetime: PhantomData<&'a mut Param>,
}

impl<'a> Requests<'a> {
    /// Wraps an array, or null.
    ///
    /// # Safety
    /// As [`Params::from_raw`]; the values are writable.
    pub(crate) const unsafe fn from_raw(first: *mut Param) -> Self {
        Self { first, lifetime: PhantomData }
    }

    /// Returns the first element, for OpenSSL.
    pub(crate) const fn as_ptr(&self) -> *mut Param {
        self.first
    }

    /// Returns the requests one by one.
    pub(crate) fn iter(&mut self) -> impl Iterator<Item = Request<'a>> + use<'a> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            // SAFETY: as in `Params::iter`; each element is given out once.
            unsafe {
                if next.is_null() || (*next).key.is_null() {
                    return None;
                }
                let request = Request { param: &mut *next };
                next = next.add(1);
                Some(request)
            }
        })
    }
}

/// A parameter to be filled.
pub(crate) struct Request<'a> {
    param: &'a mut Param,
}

impl<'a> Request<'a> {
    /// Returns the name.
    pub(crate) fn name(&self) -> &'a str {
        // SAFETY: a key is a string that lives as long as the array.
        unsafe { CStr::from_ptr(self.param.key) }.to_str().unwrap_or("")
    }

    /// Stores a number. Returns whether there was room.
    pub(crate) fn set_number(&mut self, value: u32) -> bool {
        if !matches!(self.param.data_type, INTEGER | UNSIGNED_INTEGER) {
            return false;
        }
        match self.param.data_size {
            4 if value <= i32::MAX as u32 => self.write(&value.to_ne_bytes(), 0),
            8 => self.write(&u64::from(value).to_ne_bytes(), 0),
            _ => false,
        }
    }

    /// Stores a text and its terminator, or the address of a text. Returns whether there was room.
    pub(crate) fn set_text(&mut self, value: &'static CStr) -> bool {
        match self.param.data_type {
            UTF8_STRING => {
                let length = value.to_bytes().len();
                // The terminator may be cut off.
                let with_terminator = self.param.data.is_null() || self.param.data_size > length;
                self.write(&value.to_bytes_with_nul()[..length + usize::from(with_terminator)], 1)
            }
            UTF8_POINTER => {
                self.param.return_size = value.to_bytes().len();
                // SAFETY: parameters of this type hold the address of a pointer, or null.
                unsafe {
                    let place = self.param.data.cast::<*const c_char>();
                    if !place.is_null() {
                        *place = value.as_ptr();
                    }
                }
                true
            }
            _ => false,
        }
    }

    /// Stores an octet string. Returns whether there was room.
    pub(crate) fn set_bytes(&mut self, value: &[u8]) -> bool {
        self.param.data_type == OCTET_STRING && self.write(value, 0)
    }

    /// Stores the address of bytes and their number, if that is what is asked for.
    pub(crate) fn set_bytes_address(&mut self, value: &[u8]) {
        if self.param.data_type != OCTET_POINTER {
            return;
        }
        self.param.return_size = value.len();
        // SAFETY: parameters of this type hold the address of a pointer, or null.
        unsafe {
            let place = self.param.data.cast::<*const u8>();
            if !place.is_null() {
                *place = if value.is_empty() { std::ptr::null() } else { value.as_ptr() };
            }
        }
    }

    /// Copies a value, of which the last `uncounted` bytes are no part of the length.
    fn write(&mut self, value: &[u8], uncounted: usize) -> bool {
        self.param.return_size = value.len() - uncounted.min(value.len());
        if self.param.data.is_null() {
            return true;
        }
        if self.param.data_size < value.len() {
            return false;
        }
        // SAFETY: the parameter has room for `data_size` bytes, checked above.
        unsafe {
            std::ptr::copy_nonoverlapping(value.as_ptr(), self.param.data.cast(), value.len());
        }
        true
    }
}

/// Parameters that own their values, which are wiped on drop.
#[derive(Default)]
pub(crate) struct OwnedParams {
    names: Vec<CString>,
    types: Vec<c_uint>,
    values: Vec<Vec<u8>>,
}

impl Drop for OwnedParams {
    fn drop(&mut self) {
        self.values.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl Clone for OwnedParams {
    fn clone(&self) -> Self {
        Self { names: self.names.clone(), types: self.types.clone(), values: self.values.clone() }
    }
}

impl OwnedParams {
    /// Copies parameters.
    pub(crate) fn copy_of(params: Params<'_>) -> Self {
        let mut copy = Self::default();
        for value in params.iter() {
            let data_type = match value.param.data_type {
                UTF8_POINTER => UTF8_STRING,
                OCTET_POINTER => OCTET_STRING,
                other => other,
            };
            let name = CString::new(value.name()).unwrap_or_default();
            copy.push(name, data_type, value.contents().unwrap_or(&[]).to_vec());
        }
        copy
    }

    /// Adds a parameter. A text gets a terminator, which is no part of its length: some of
    /// OpenSSL's code needs one.
    fn push(&mut self, name: CString, data_type: c_uint, mut value: Vec<u8>) {
        if data_type == UTF8_STRING {
            value.retain(|byte| *byte != 0);
            value.push(0);
        }
        self.names.push(name);
        self.types.push(data_type);
        self.values.push(value);
    }

    /// Adds an octet string.
    pub(crate) fn with_bytes(mut self, name: &CStr, value: &[u8]) -> Self {
        self.push(name.into(), OCTET_STRING, value.to_vec());
        self
    }

    /// Adds a text.
    pub(crate) fn with_text(mut self, name: &CStr, value: &str) -> Self {
        self.push(name.into(), UTF8_STRING, value.into());
        self
    }

    /// Adds an unsigned integer, given big-endian.
    pub(crate) fn with_integer(mut self, name: &CStr, value: &[u8]) -> Self {
        let mut value = value.to_vec();
        if cfg!(target_endian = "little") {
            value.reverse();
        }
        self.push(name.into(), UNSIGNED_INTEGER, value);
        self
    }

    /// Returns whether two arrays have the same names in the same order.
    pub(crate) fn sets_the_same(&self, other: &Self) -> bool {
        self.names == other.names
    }

    /// Adds another array's parameters, in place of those with the same names.
    pub(crate) fn update(&mut self, mut other: Self) {
        for i in (0..self.names.len()).rev() {
            if other.names.contains(&self.names[i]) {
                self.names.remove(i);
                self.types.remove(i);
                self.values.remove(i).zeroize();
            }
        }
        self.names.append(&mut other.names);
        self.types.append(&mut other.types);
        self.values.append(&mut other.values);
    }

    /// Calls `use_them` with the parameters as an array.
    pub(crate) fn with<T>(&self, use_them: impl FnOnce(Params<'_>) -> T) -> T {
        let mut array: Vec<Param> = self
            .names
            .iter()
            .zip(&self.types)
            .zip(&self.values)
            .map(|((name, data_type), value)| Param {
                key: name.as_ptr(),
                data_type: *data_type,
                data: value.as_ptr().cast_mut().cast::<c_void>(),
                data_size: value.len() - usize::from(*data_type == UTF8_STRING),
                return_size: UNMODIFIED,
            })
            .collect();
        array.push(Param::END);
        // SAFETY: the array ends with a null key; names and values live as long as `self`.
        use_them(unsafe { Params::from_raw(array.as_ptr()) })
    }
}

/// Returns an element that describes a parameter, for the lists of what a provider knows.
pub(crate) const fn described(name: &'static CStr, data_type: c_uint) -> Param {
    Param {
        key: name.as_ptr(),
        data_type,
        data: std::ptr::null_mut(),
        data_size: 0,
        return_size: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let owned = OwnedParams::default()
            .with_bytes(c"pub", &[1, 2, 3])
            .with_text(c"group", "prime256v1")
            .with_integer(c"n", &[0, 1, 0]);
        for owned in [owned.clone(), owned.with(OwnedParams::copy_of)] {
            owned.with(|params| {
                assert_eq!(params.find("pub").unwrap().bytes(), Some(&[1, 2, 3][..]));
                assert_eq!(params.find("group").unwrap().text(), Some("prime256v1"));
                assert_eq!(*params.find("n").unwrap().integer().unwrap(), [0, 1, 0]);
                assert_eq!(params.find("n").unwrap().number(), Some(256));
                assert_eq!(params.find("n").unwrap().bytes(), None);
                assert_eq!(params.find("pub").unwrap().number(), None);
                assert!(params.find("priv").is_none());
            });
        }
        // SAFETY: null is an empty array.
        assert!(unsafe { Params::from_raw(std::ptr::null()) }.is_empty());
    }

    #[test]
    fn requests_are_filled_if_there_is_room() {
        let mut room = [0xff_u8; 8];
        let mut array = [described(c"x", OCTET_STRING), Param::END];
        let mut fill = |data_type, size, fill: &dyn Fn(&mut Request<'_>) -> bool| {
            room = [0xff; 8];
            array[0].data_type = data_type;
            array[0].data = room.as_mut_ptr().cast();
            array[0].data_size = size;
            // SAFETY: the array ends with a null key, and `room` is writable.
            let mut requests = unsafe { Requests::from_raw(array.as_mut_ptr()) };
            let filled = fill(&mut requests.iter().next().unwrap());
            (filled, array[0].return_size, room)
        };
        let bytes = |request: &mut Request<'_>| request.set_bytes(&[1, 2, 3]);
        assert_eq!(fill(OCTET_STRING, 3, &bytes), (true, 3, [1, 2, 3, 255, 255, 255, 255, 255]));
        assert_eq!(fill(OCTET_STRING, 2, &bytes), (false, 3, [255; 8]));
        assert!(!fill(UTF8_STRING, 8, &bytes).0);
        let text = |request: &mut Request<'_>| request.set_text(c"ab");
        assert_eq!(fill(UTF8_STRING, 8, &text).2, [b'a', b'b', 0, 255, 255, 255, 255, 255]);
        assert_eq!(fill(UTF8_STRING, 2, &text).2, [b'a', b'b', 255, 255, 255, 255, 255, 255]);
        assert!(!fill(UTF8_STRING, 1, &text).0);
        let number = |request: &mut Request<'_>| request.set_number(7);
        assert!(fill(INTEGER, 4, &number).0 && fill(UNSIGNED_INTEGER, 8, &number).0);
        assert!(!fill(INTEGER, 2, &number).0);
    }
}
