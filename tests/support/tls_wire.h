// The server half of TLS for scripted servers, with a certificate authority made on the spot.
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <memory>
#include <string>
#include <string_view>

namespace vagt::test {

template <auto free_function>
struct OpenSslDeleter {
  template <class T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using X509Pointer = std::unique_ptr<X509, OpenSslDeleter<X509_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>>;
using ContextPointer = std::unique_ptr<SSL_CTX, OpenSslDeleter<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, OpenSslDeleter<SSL_free>>;
using BioPointer = std::unique_ptr<BIO, OpenSslDeleter<BIO_free_all>>;

inline std::string bio_text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

// A key and a certificate for `name` ("DNS:localhost", "IP:127.0.0.1"), signed by `issuer` or by
// itself.
class Certificate {
 public:
  explicit Certificate(const std::string& alt_name, const Certificate* issuer = nullptr)
      : key_(EVP_EC_gen("P-256")), x509_(X509_new()) {
    X509* const x = x509_.get();
    X509_set_version(x, 2);
    static int serial = 1;
    ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(alt_name.c_str()), -1, -1, 0);
    const Certificate& signer = issuer != nullptr ? *issuer : *this;
    X509_set_issuer_name(x, X509_get_subject_name(signer.x509_.get()));
    X509_set_pubkey(x, key_.get());
    extend(signer, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
    extend(signer, NID_subject_alt_name, alt_name);
    X509_sign(x, signer.key_.get(), EVP_sha256());
  }
  std::string pem() const {
    const BioPointer bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(bio.get(), x509_.get());
    return bio_text(bio.get());
  }
  std::string key_pem() const {
    const BioPointer bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return bio_text(bio.get());
  }
  X509* x509() const { return x509_.get(); }
  EVP_PKEY* key() const { return key_.get(); }

 private:
  void extend(const Certificate& signer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, signer.x509_.get(), x509_.get(), nullptr, nullptr, 0);
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    X509_add_ext(x509_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  KeyPointer key_;
  X509Pointer x509_;
};

// `client_ca`: clients must show a certificate it signed.
inline ContextPointer server_context(const Certificate& certificate,
                                     const Certificate* client_ca = nullptr) {
  ContextPointer context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_use_certificate(context.get(), certificate.x509());
  SSL_CTX_use_PrivateKey(context.get(), certificate.key());
  if (client_ca != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), client_ca->x509());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

// Takes over a connected socket; is_open() says whether the handshake worked.
class TlsWire {
 public:
  TlsWire(SSL_CTX* context, int fd) : ssl_(SSL_new(context)) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    SSL_set_fd(ssl_.get(), fd);
    is_open_ = SSL_accept(ssl_.get()) == 1;
  }
  ~TlsWire() {
    if (is_open_) SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }
  TlsWire(const TlsWire&) = delete;
  TlsWire& operator=(const TlsWire&) = delete;

  bool is_open() const { return is_open_; }
  std::string server_name() const {
    const char* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }
  bool send(std::string_view text) {
    return SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0;
  }
  std::string read_until(std::string_view end) {
    size_t at;
    while ((at = pending_.find(end)) == std::string::npos) {
      char buffer[4096];
      const int got = SSL_read(ssl_.get(), buffer, sizeof buffer);
      if (got <= 0) return std::exchange(pending_, "");
      pending_.append(buffer, static_cast<size_t>(got));
    }
    std::string out = pending_.substr(0, at + end.size());
    pending_.erase(0, at + end.size());
    return out;
  }

 private:
  SslPointer ssl_;
  bool is_open_ = false;
  std::string pending_;
};

}  // namespace vagt::test
