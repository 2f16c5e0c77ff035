package import MLExtractors
package import MLNumerics
import Synchronization

/// The loaded finders of the process, by the store that they were installed in.
package enum PoseFinders {
    private static let hands = Mutex<[String: HandFinder]>([:])
    private static let bodies = Mutex<[String: BodyFinder]>([:])

    /// The finder of hands, loaded when it is first needed.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing.
    package static func hands(_ store: ExtractorStore = .user) throws(ModelError) -> HandFinder {
        if let known = hands.withLock({ $0[store.folder] }) { return known }
        let finder = try HandFinder(store)
        hands.withLock { $0[store.folder] = finder }
        return finder
    }

    /// The finder of bodies, loaded when it is first needed.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing.
    package static func bodies(_ store: ExtractorStore = .user) throws(ModelError) -> BodyFinder {
        if let known = bodies.withLock({ $0[store.folder] }) { return known }
        let finder = try BodyFinder(store)
        bodies.withLock { $0[store.folder] = finder }
        return finder
    }
}
