// The little of Unicode that templates need: runes, letters, case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vagt::tmpl {

// The first rune of a non-empty text and its size in bytes; U+FFFD and 1 where it is not UTF-8.
char32_t decode_utf8(std::string_view text, size_t& size);
void append_utf8(std::string& out, char32_t rune);
size_t rune_count(std::string_view text);

bool is_letter(char32_t rune);
// _, letters and digits: what names in templates are made of.
bool is_name_rune(char32_t rune);
// Go's unicode.IsPrint, near enough for quoting: not a control, format, surrogate or private
// character.
bool is_printable(char32_t rune);
// "U+002D '-'".
std::string describe_rune(char32_t rune);

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
// Go's strings.Title: the first letter of each word in upper case, the rest as it is.
std::string title_words(std::string_view text);
// golang.org/x/text/cases.Title(language.AmericanEnglish): the rest of each word in lower case.
std::string title_words_lowering(std::string_view text);
std::string trim_space(std::string_view text);

}  // namespace vagt::tmpl
