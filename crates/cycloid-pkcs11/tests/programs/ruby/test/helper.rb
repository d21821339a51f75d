# Replaces `test/helper` of the gem pkcs11, whose tests expect NSS with a database of keys and
# certificates. Opens the module that CYCLOID_RUBY_MODULE names instead, shows the slot with the
# token of a label alone, logs in with each session, and stores what the tests look for.
require "openssl"
require "pkcs11"

MODULE, TOKEN, PIN = ENV.values_at("CYCLOID_RUBY_MODULE", "CYCLOID_RUBY_TOKEN", "CYCLOID_RUBY_PIN")

def find_softokn = MODULE

# The parameter of C_Initialize: there is none.
def softokn_params_string = nil

def softokn_params = Object.new.tap { |none| def none.join(_) = nil }

module LoggedIn
  # Both are names of one method.
  %i[C_OpenSession open].each do |name|
    define_method(name) do |*arguments, &block|
      session = super(*arguments)
      session.login(:USER, PIN)
      next session unless block
      begin
        block.call(session)
      ensure
        session.close
      end
    end
  end
end

module WithPin
  def login(user, _)
    super(user, PIN)
  rescue PKCS11::CKR_USER_ALREADY_LOGGED_IN
    self
  end
end

module OneToken
  def active_slots
    super.select { |slot| slot.token_info.label.strip == TOKEN }
  end
end

# Each test of the file test_pkcs11_crypt.rb makes a DES key first, which most do not need.
module WithoutDes
  def create_object(template)
    super
  rescue PKCS11::CKR_TEMPLATE_INCONSISTENT
    raise unless template[:KEY_TYPE] == PKCS11::CKK_DES2
    super(template.merge(KEY_TYPE: PKCS11::CKK_AES))
  end
end

PKCS11::Slot.prepend(LoggedIn)
PKCS11::Session.prepend(WithPin)
PKCS11::Session.prepend(WithoutDes)
PKCS11::Library.prepend(OneToken)

# Stores a pair of RSA keys, and three certificates, one with the identifier that a test knows.
def prepare(session)
  return unless session.find_objects(CLASS: PKCS11::CKO_CERTIFICATE).empty?
  session.generate_key_pair(
    :RSA_PKCS_KEY_PAIR_GEN,
    { TOKEN: true, MODULUS_BITS: 2048, PUBLIC_EXPONENT: "\x01\x00\x01".b, ENCRYPT: true, VERIFY: true },
    { TOKEN: true, DECRYPT: true, SIGN: true, EXTRACTABLE: true }
  )
  key = OpenSSL::PKey::RSA.generate(2048)
  ["\230Z\275=\2614\236\337\fY\017Y\346\202\212\v\025\335\0239".b, "2", "3"].each do |id|
    certificate = OpenSSL::X509::Certificate.new
    certificate.subject = certificate.issuer = OpenSSL::X509::Name.new([["CN", "test"]])
    certificate.not_before, certificate.not_after = Time.now, Time.now + 86_400
    certificate.public_key, certificate.serial = key.public_key, 7
    certificate.sign(key, "SHA256")
    session.create_object(
      CLASS: PKCS11::CKO_CERTIFICATE, CERTIFICATE_TYPE: PKCS11::CKC_X_509, TOKEN: true, ID: id,
      SUBJECT: certificate.subject.to_der, ISSUER: certificate.issuer.to_der,
      VALUE: certificate.to_der
    )
  end
end

def open_softokn(_ = nil)
  PKCS11.open(MODULE).tap do |library|
    session = library.active_slots.last.open(PKCS11::CKF_SERIAL_SESSION | PKCS11::CKF_RW_SESSION)
    prepare(session)
    session.close
  end
end

$pkcs11 = nil
