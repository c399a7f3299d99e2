// The Idempotency-Key header: an Item of RFC 9651 that is a String, or a bare key as most clients
// send it.

#include <callsign/base/text.hpp>
#include <callsign/domain/slot.hpp>
#include <callsign/wire/convert.hpp>

namespace callsign::wire {
namespace {

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) noexcept {
    return c >= 'a' && c <= 'z';
}
constexpr bool is_alpha(char c) noexcept {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

// Takes things off the front of a structured field. Each function says whether it could.
class field_scanner {
  public:
    explicit field_scanner(std::string_view text) : rest_(text) {}

    bool done() const noexcept { return rest_.empty(); }

    void skip_spaces() noexcept {
        while (next_is(' ')) rest_.remove_prefix(1);
    }
    bool take(char c) noexcept {
        if (!next_is(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    // sf-string, after its opening quote. Printable ASCII only.
    bool take_string(std::string& out) {
        while (!rest_.empty()) {
            char c = take_any();
            if (c == '"') return true;
            if (c < 0x20 || c > 0x7E) return false;
            if (c == '\\') {
                if (!next_is('"') && !next_is('\\')) return false;
                c = take_any();
            }
            out += c;
        }
        return false;
    }

    // *( ";" *SP key [ "=" bare-item ] ). None has a meaning for us.
    bool take_parameters() {
        while (take(';')) {
            skip_spaces();
            if (rest_.empty() || (!is_lower(rest_.front()) && rest_.front() != '*')) return false;
            take_while([](char c) {
                return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
            });
            if (take('=') && !take_bare_item()) return false;
        }
        return true;
    }

  private:
    bool next_is(char c) const noexcept { return !rest_.empty() && rest_.front() == c; }

    char take_any() noexcept {
        const char c = rest_.front();
        rest_.remove_prefix(1);
        return c;
    }

    template <class Predicate>
    std::size_t take_while(Predicate wanted) noexcept {
        std::size_t n = 0;
        while (n < rest_.size() && wanted(rest_[n])) ++n;
        rest_.remove_prefix(n);
        return n;
    }

    bool take_bare_item() {
        std::string ignored;
        if (take('"')) return take_string(ignored);
        if (take('?')) return take('0') || take('1');
        if (take('@')) return take_number(false);
        if (take('%')) return take('"') && take_display_string();
        if (take(':')) {
            take_while([](char c) {
                return is_alpha(c) || is_digit(c) || c == '+' || c == '/' || c == '=';
            });
            return take(':');
        }
        if (!rest_.empty() && (is_alpha(rest_.front()) || rest_.front() == '*')) {
            return take_while([](char c) {
                       return is_alpha(c) || is_digit(c) ||
                              std::string_view("!#$%&'*+-.^_`|~:/").find(c) !=
                                  std::string_view::npos;
                   }) > 0;
        }
        return take_number(true);
    }

    // Up to 15 digits, or 12 and a fraction of up to 3.
    bool take_number(bool may_have_fraction) {
        take('-');
        const std::size_t whole = take_while(is_digit);
        if (whole == 0 || whole > 15) return false;
        if (!may_have_fraction || !take('.')) return true;
        const std::size_t fraction = take_while(is_digit);
        return whole <= 12 && fraction >= 1 && fraction <= 3;
    }

    // After its opening quote: printable ASCII, other bytes as % and two lower-case hex digits.
    bool take_display_string() {
        while (!rest_.empty()) {
            const char c = take_any();
            if (c == '"') return true;
            if (c < 0x20 || c > 0x7E) return false;
            for (int digits = c == '%' ? 2 : 0; digits > 0; --digits) {
                if (rest_.empty()) return false;
                const char hex = take_any();
                if (!is_digit(hex) && (hex < 'a' || hex > 'f')) return false;
            }
        }
        return false;
    }

    std::string_view rest_;
};

}  // namespace

std::variant<std::string, key_missing, key_malformed> parse_idempotency_key(
    const std::vector<std::string_view>& values) {
    if (values.empty()) return key_missing{};
    if (values.size() > 1) return key_malformed{"The header is given more than once."};

    const std::string_view text = trimmed(values.front());
    std::string key;
    field_scanner scan(text);
    if (scan.take('"')) {
        if (!scan.take_string(key)) {
            return key_malformed{"The quoted string is not closed or has a character it must not."};
        }
        if (!scan.take_parameters() || !scan.done()) {
            return key_malformed{"There is something after the quoted string."};
        }
    } else {
        key = text;
    }
    if (!is_valid_idempotency_key(key)) {
        return key_malformed{"A key is 1 to 255 visible ASCII characters."};
    }
    return key;
}

}  // namespace callsign::wire
