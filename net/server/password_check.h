// Passwords against bcrypt hashes, which take a twentieth of a second each: good ones are
// remembered. Inside net/ only.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/secret.h"

namespace vagt::net {

class PasswordCheck {
 public:
  using Users = std::map<std::string, Secret>;  // name → hash

  PasswordCheck();
  // True: this very pair was found good before. Quick.
  bool is_known_good(const Users& users, const std::string& user, const std::string& password)
      VAGT_EXCLUDES(mutex_);
  // Slow, as long for users that there are none of.
  bool is_good(const Users& users, const std::string& user, const std::string& password)
      VAGT_EXCLUDES(mutex_);

 private:
  using Digest = std::array<unsigned char, 32>;
  Digest digest(const std::string& hash, const std::string& user,
                const std::string& password) const;

  std::array<unsigned char, 32> salt_{};  // random per process
  base::Mutex mutex_;
  std::set<Digest> good_ VAGT_GUARDED_BY(mutex_);
};

// The parts of a Basic Authorization header; false: it is none.
bool parse_basic(std::string_view header, std::string& user, std::string& password);

}  // namespace vagt::net
