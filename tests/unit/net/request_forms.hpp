#pragma once
// Every form of a request, as clients may send it: accepted, rejected, and incomplete ones. For
// tests that send them in pieces.

#include <string>
#include <vector>

namespace callsign::net {

struct request_form {
    const char* name;
    std::string bytes;
};

inline std::string chunked_put(const std::string& rest, const std::string& more_fields = {}) {
    return "PUT /c HTTP/1.1\r\nHost: h\r\n" + more_fields + "Transfer-Encoding: chunked\r\n\r\n" +
           rest;
}

inline std::string put_of(const std::string& body, const std::string& more_fields = {}) {
    return "PUT /p HTTP/1.1\r\nHost: h\r\n" + more_fields +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline std::vector<request_form> request_forms() {
    const std::string get = "GET /1?a=b HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n";
    return {
        // ---- accepted ----
        {"no body", get},
        {"an empty line before it", "\r\n\r\n" + get},
        {"HTTP/1.0", "GET /0 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"},
        {"the absolute form", "GET http://h/x?y HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"a folded field", "PUT / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\nContent-Length: 1\r\n\r\nx"},
        {"a length", put_of("12345")},
        {"a length of nothing", put_of("")},
        {"a length, of line ends", put_of("\r\n\r\n\r\n0\r\n\r\n")},
        {"a length said twice", "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2, 2\r\n\r\nab"},
        {"lists of more than one field", put_of("", "Accept: a\r\nA: b\r\nAccept: c\r\n")},
        {"expected", put_of("123", "Expect: 100-continue\r\n")},
        {"expected, of nothing", put_of("", "Expect: 100-continue\r\n")},
        {"expected, in chunks", chunked_put("3\r\nabc\r\n0\r\n\r\n", "Expect: 100-continue\r\n")},
        {"chunks", chunked_put("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")},
        {"chunks of line ends", chunked_put("4\r\n\r\n\r\n\r\n0\r\n\r\n")},
        {"no chunk", chunked_put("0\r\n\r\n")},
        {"no chunk, in many digits", chunked_put("0000000000000000000000\r\n\r\n")},
        {"large digits", chunked_put("A\r\n0123456789\r\n0a\r\nabcdefghij\r\n0\r\n\r\n")},
        {"extensions", chunked_put("3;a=b;c=\"d e\";f\r\nabc\r\n1 ; g\r\nd\r\n0;h\r\n\r\n")},
        {"a trailer", chunked_put("1\r\na\r\n0\r\nA: trailer\r\nB:\r\nAuthorization: x\r\n\r\n")},
        {"a trailer behind nothing", chunked_put("0\r\nA: b\r\n\r\n")},
        {"one behind another", get + put_of("ab") + chunked_put("2\r\ncd\r\n0\r\nA: b\r\n\r\n") +
                                   "\r\n" + put_of("ef", "Expect: 100-continue\r\n") + get},
        // ---- rejected ----
        {"no HTTP", "\x16\x03\x01\x02"},
        {"a bare newline", "GET / HTTP/1.1\r\nHost: h\nA: b\r\n\r\n"},
        {"a bare return", "GET / HTTP/1.1\r\nHost: h\rA: b\r\n\r\n"},
        {"no host", "GET / HTTP/1.1\r\n\r\n"},
        {"the same length twice", put_of("ab", "Content-Length: 2\r\n")},
        {"a token twice", put_of("", "Authorization: a\r\nauthorization: a\r\n")},
        {"a type twice, not side by side",
         put_of("", "Content-Type: a/b\r\nA: b\r\nContent-Type: c/d\r\n")},
        {"two lengths",
         "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"},
        {"a length and chunks", chunked_put("0\r\n\r\n", "Content-Length: 5\r\n")},
        {"another coding", chunked_put("0\r\n\r\n", "Transfer-Encoding: gzip\r\n")},
        {"a coding inside",
         "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
         "0\r\n\r\n"},
        {"too large a length", "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n"},
        {"too large a chunk", chunked_put("fffffff\r\n")},
        {"a chunk beyond all numbers", chunked_put("10000000000000000\r\n")},
        {"no size", chunked_put("\r\n\r\n")},
        {"a size of something else", chunked_put("1g\r\na\r\n0\r\n\r\n")},
        {"a size and a space", chunked_put("1 \r\na\r\n0\r\n\r\n")},
        {"a sign", chunked_put("+1\r\na\r\n0\r\n\r\n")},
        {"a size behind a bare newline", chunked_put("1\na\r\n0\r\n\r\n")},
        {"a return in a size", chunked_put("1;\ra\r\nb\r\n0\r\n\r\n")},
        {"a chunk without its end", chunked_put("1\r\nab\r\n0\r\n\r\n")},
        {"a chunk with half its end", chunked_put("1\r\na\rb0\r\n\r\n")},
        {"a trailer that is none", chunked_put("0\r\nno colon\r\n\r\n")},
        {"a folded trailer", chunked_put("0\r\nA: b\r\n c\r\n\r\n")},
        {"a trailer with a bare newline", chunked_put("0\r\nA: b\n\r\n")},
        {"a trailer with a bare return", chunked_put("0\r\n\ra\r\n\r\n")},
        // ---- incomplete ----
        {"half a header", "GET / HTTP/1.1\r\nHo"},
        {"half a body", "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"},
        {"half a chunk", chunked_put("9\r\nabc")},
        {"half an end", chunked_put("0\r\n\r")},
        {"half an end of a trailer", chunked_put("0\r\nA: b\r\n\r")},
    };
}

}  // namespace callsign::net
