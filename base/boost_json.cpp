// Boost.JSON is header-only here; its function bodies live in this one file.
#include <boost/json/src.hpp>
