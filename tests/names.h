// The names of all floors of the program in one namespace: tests speak of several at once.
#pragma once

namespace tilescope {
namespace draw {}
namespace look {}
namespace session {}
namespace input {}
namespace step {}
namespace compare {}
namespace race {}
namespace timing {}
namespace limits {}
namespace lessons {}
namespace pictures {}

namespace app {

using namespace draw;      // NOLINT(google-build-using-namespace): of this namespace's tests alone
using namespace look;      // NOLINT(google-build-using-namespace)
using namespace session;   // NOLINT(google-build-using-namespace)
using namespace input;     // NOLINT(google-build-using-namespace)
using namespace step;      // NOLINT(google-build-using-namespace)
using namespace compare;   // NOLINT(google-build-using-namespace)
using namespace timing;    // NOLINT(google-build-using-namespace)
using namespace limits;    // NOLINT(google-build-using-namespace)
using namespace lessons;   // NOLINT(google-build-using-namespace)
using namespace pictures;  // NOLINT(google-build-using-namespace)

}  // namespace app
}  // namespace tilescope
