#include "net/server/password_check.h"

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstring>
#include <memory>

#include "base/base64.h"
#include "net/url.h"

namespace vagt::net {
namespace {

constexpr size_t kRemembered = 256;
// Of no password; its cost is the usual one.
constexpr const char* kNobody = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi";

bool matches(const std::string& password, const std::string& hash) {
  const auto data = std::make_unique<crypt_data>();
  std::memset(data.get(), 0, sizeof(crypt_data));
  const char* made = ::crypt_r(password.c_str(), hash.c_str(), data.get());
  return made != nullptr && std::strlen(made) == hash.size() &&
         ::CRYPTO_memcmp(made, hash.data(), hash.size()) == 0;
}

}  // namespace

PasswordCheck::PasswordCheck() { ::RAND_bytes(salt_.data(), static_cast<int>(salt_.size())); }

PasswordCheck::Digest PasswordCheck::digest(const std::string& hash, const std::string& user,
                                            const std::string& password) const {
  std::string text(salt_.begin(), salt_.end());
  for (const std::string* part : {&hash, &user, &password}) {
    text += std::to_string(part->size());
    text += ':';
    text += *part;
  }
  Digest out{};
  unsigned int size = 0;
  ::EVP_Digest(text.data(), text.size(), out.data(), &size, ::EVP_sha256(), nullptr);
  return out;
}

bool PasswordCheck::is_known_good(const Users& users, const std::string& user,
                                  const std::string& password) {
  const auto found = users.find(user);
  if (found == users.end()) return false;
  const Digest key = digest(found->second.reveal(), user, password);
  base::MutexLock lock(mutex_);
  return good_.contains(key);
}

bool PasswordCheck::is_good(const Users& users, const std::string& user,
                            const std::string& password) {
  const auto found = users.find(user);
  const std::string hash = found != users.end() ? found->second.reveal() : kNobody;
  // NUL would end the password early.
  const bool is_whole = password.find('\0') == std::string::npos;
  const bool fits = matches(password, hash) && is_whole && found != users.end();
  if (!fits) return false;
  base::MutexLock lock(mutex_);
  if (good_.size() >= kRemembered) good_.clear();
  good_.insert(digest(hash, user, password));
  return true;
}

bool parse_basic(std::string_view header, std::string& user, std::string& password) {
  const size_t space = header.find(' ');
  if (space == std::string_view::npos || !equals_ignoring_case(header.substr(0, space), "basic"))
    return false;
  const auto text = base::decode_base64(header.substr(space + 1));
  const size_t colon = text ? text->find(':') : std::string::npos;
  if (colon == std::string::npos) return false;
  user = text->substr(0, colon), password = text->substr(colon + 1);
  return true;
}

}  // namespace vagt::net
