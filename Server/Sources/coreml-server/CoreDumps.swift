import Glibc

/// Core dumps of a process that has the keys of models.
enum CoreDumps {
    /// Disables core dumps, which would write keys in memory to the disk; throws when the system refuses.
    static func disable() throws {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
            throw CoreDumpError(reason: String(cString: strerror(errno)))
        }
    }
}

struct CoreDumpError: Error, CustomStringConvertible {
    let reason: String
    var description: String { "Core dumps cannot be forbidden: \(reason)." }
}
