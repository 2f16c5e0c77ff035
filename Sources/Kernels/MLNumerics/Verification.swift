import Glibc

/// Whether intermediate results of the project's own code are verified: graphs after every pass, and memory plans.
///
/// Verification costs time and finds mistakes of passes and of the planner, never those of a model file, which is
/// always validated.  It is on where the environment variable `COREML_VERIFY` is 1, which `scripts/test` sets, and in
/// debug builds.
package enum Verification {
    package static let isOn: Bool = {
        var isDebugBuild = false
        assert(
            {
                isDebugBuild = true
                return true
            }()
        )
        return isDebugBuild || getenv("COREML_VERIFY").map { String(cString: $0) } == "1"
    }()
}
