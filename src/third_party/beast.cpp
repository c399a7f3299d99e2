#include <boost/beast/src.hpp>
#include <boost/url/src.hpp>
