import Dispatch
import Foundation
package import Logging
import Synchronization

/// The models that are loaded at start, and whether requests may change them.
package enum ModelControl: String, Sendable, CaseIterable {
    /// All at the start; changed ones are loaded beside the old and then take their place.
    case poll
    /// Those that were named at the start, and those that clients load.
    case explicit
    /// All at the start, and nothing later.
    case none
}

/// The models of a server.
package final class ModelRepository: Sendable {
    /// A version of a model and its state.
    package struct Entry: Sendable {
        package let name: String
        package let version: String
        /// `READY`, or `UNAVAILABLE` with a reason.
        package let state: String
        package let reason: String
    }

    private struct Slot {
        let model: LoadedModel
        let path: String
        let fingerprint: ModelFingerprint?
    }

    private struct State {
        var slots: [String: [String: Slot]] = [:]
        var problems: [ModelLocation: String] = [:]
        /// The fingerprints that could not be loaded, which are not tried again.
        var failed: [ModelLocation: ModelFingerprint] = [:]
        /// The files at the last check: a change counts when two checks agree.
        var seen: [ModelLocation: ModelFingerprint] = [:]
        var counts: [String: ModelCounts] = [:]
        var reported: Set<String> = []
    }

    package let control: ModelControl
    private let sources: [ModelSource]
    private let options: BatchOptions
    private let pool: PredictionPool
    private let metrics: ServingMetrics
    private let logger: Logger
    private let state = Mutex(State())
    /// Models are loaded one after the other.
    private let loading = DispatchQueue(label: "loading")

    package init(
        _ sources: [ModelSource],
        control: ModelControl,
        options: BatchOptions,
        pool: PredictionPool,
        metrics: ServingMetrics,
        logger: Logger
    ) {
        self.sources = sources
        self.control = control
        self.options = options
        self.pool = pool
        self.metrics = metrics
        self.logger = logger
    }

    // MARK: Look-up

    /// A version of a model, the newest by default.
    ///
    /// - Throws: `ServingError` 404 when there is none, 503 when it is not loaded.
    package func model(_ name: String, _ version: String?) throws -> LoadedModel {
        let versions = state.withLock { $0.slots[name] } ?? [:]
        if let version {
            if let slot = versions[version] { return slot.model }
        } else if let newest = versions.max(by: { Self.number($0.key) < Self.number($1.key) }) {
            return newest.value.model
        }
        let place = version.map { "version \($0) of the model \"\(name)\"" } ?? "the model \"\(name)\""
        let isKnown = models().found.contains { $0.name == name && (version == nil || $0.version == version) }
        if isKnown { throw ServingError(503, "\(place) is not loaded.".capitalizedFirst, retryAfter: 5) }
        throw ServingError.missing("There is no \(place.dropFirst(place.hasPrefix("the ") ? 4 : 0)).")
    }

    private static func number(_ version: String) -> Int { Int(version) ?? 0 }

    /// The loaded versions of a model, ascending.
    func versions(_ name: String) -> [String] {
        state.withLock { $0.slots[name]?.keys.map { $0 } ?? [] }.sorted { Self.number($0) < Self.number($1) }
    }

    /// All loaded models.
    package var loaded: [LoadedModel] {
        state.withLock { $0.slots.values.flatMap { $0.values.map(\.model) } }
            .sorted { ($0.name, Self.number($0.version)) < ($1.name, Self.number($1.version)) }
    }

    /// Every model that is there, loaded or not.
    package func index() -> [Entry] {
        let (slots, problems) = state.withLock { ($0.slots, $0.problems) }
        var entries: [Entry] = []
        for location in models().found {
            let isReady = slots[location.name]?[location.version] != nil
            let reason = isReady ? "" : problems[location] ?? "not loaded"
            entries.append(
                Entry(
                    name: location.name,
                    version: location.version,
                    state: isReady ? "READY" : "UNAVAILABLE",
                    reason: reason
                )
            )
        }
        return entries
    }

    /// Whether every model that should be loaded is.
    package var isReady: Bool { state.withLock { $0.problems.isEmpty } }

    private func models() -> ModelListing {
        var all = ModelListing()
        var known: Set<[String]> = []
        for source in sources {
            let listing = source.models()
            all.problems += listing.problems
            all.unclear.formUnion(listing.unclear)
            for model in listing.found {
                guard known.insert([model.name, model.version]).inserted else {
                    all.problems.append(
                        "\(model.path): there is another model \"\(model.name)\", version \(model.version)."
                    )
                    continue
                }
                all.found.append(model)
            }
        }
        return all
    }

    // MARK: Loading

    /// Loads the models of the start.
    ///
    /// - Parameter names: in explicit control those to load; `*` stands for all.
    /// - Throws: `ServingError` when a named model does not exist.
    package func start(_ names: [String] = []) async throws {
        let isAll = control != .explicit || names.contains("*")
        let found = models()
        report(found.problems)
        for name in names where name != "*" && !found.found.contains(where: { $0.name == name }) {
            throw ServingError.missing("There is no model \"\(name)\".")
        }
        for location in found.found where isAll || names.contains(location.name) { await load(location) }
    }

    /// Loads all versions of a model anew; those in use are replaced when they are loaded.
    ///
    /// - Throws: `ServingError` when there is no such model or a version cannot be loaded.
    package func load(_ name: String) async throws {
        try checkExplicit()
        let locations = models().found.filter { $0.name == name }
        guard !locations.isEmpty else { throw ServingError.missing("There is no model \"\(name)\".") }
        for location in locations {
            if let problem = await load(location) {
                throw ServingError(500, "Version \(location.version) of \"\(name)\" cannot be loaded: \(problem)")
            }
        }
        state.withLock { state in
            let versions = Set(locations.map(\.version))
            state.slots[name] = state.slots[name]?.filter { versions.contains($0.key) }
        }
    }

    /// Forgets a model; requests that found it are answered.
    package func unload(_ name: String) throws {
        try checkExplicit()
        let isKnown = models().found.contains { $0.name == name }
        try state.withLock { state in
            guard state.slots.removeValue(forKey: name) != nil || isKnown else {
                throw ServingError.missing("There is no model \"\(name)\".")
            }
            state.problems = state.problems.filter { $0.key.name != name }
        }
        logger.notice("Unloaded \(name).")
    }

    private func checkExplicit() throws {
        guard control == .explicit else {
            throw ServingError.invalid(
                "Clients may load and unload models only of a server that was started with --model-control explicit."
            )
        }
    }

    /// Loads a version beside the one in use, and puts it in its place.
    @discardableResult
    private func load(_ location: ModelLocation) async -> String? {
        let fingerprint = ModelFingerprint(path: location.path)
        let counts = state.withLock { state in
            let key = location.name + "/" + location.version
            let counts = state.counts[key] ?? ModelCounts(location.name, location.version, metrics)
            state.counts[key] = counts
            return counts
        }
        let start = ContinuousClock.now
        let result: Result<LoadedModel, any Error> = await withCheckedContinuation { continuation in
            loading.async { [options, pool] in
                continuation.resume(
                    returning: Result {
                        try LoadedModel(
                            name: location.name,
                            version: location.version,
                            path: location.path,
                            options: options,
                            pool: pool,
                            counts: counts
                        )
                    }
                )
            }
        }
        let time = ContinuousClock.now - start
        switch result {
        case .success(let model):
            state.withLock { state in
                let slot = Slot(model: model, path: location.path, fingerprint: fingerprint)
                state.slots[location.name, default: [:]][location.version] = slot
                state.problems[location] = nil
                state.failed[location] = nil
            }
            metrics.loaded(true)
            let form = model.queue.predictor.form
            logger.notice(
                "Loaded \(location.name) version \(location.version) in \(time.milliseconds) ms; batches: \(form)."
            )
            return nil
        case .failure(let error):
            let problem = (error as? ServingError)?.description ?? error.localizedDescription
            state.withLock { state in
                state.problems[location] = problem
                state.failed[location] = fingerprint
            }
            metrics.loaded(false)
            logger.error("\(location.path) cannot be loaded: \(problem)")
            return problem
        }
    }

    // MARK: Changes

    /// Looks at the disk: loads what is new or has changed, and forgets what is gone.
    ///
    /// In explicit control it looks at the models that are loaded, and at new versions of theirs, alone. A change counts when
    /// two looks agree, so that files that are being copied are not read. A version that cannot be loaded leaves the one in use
    /// in its place.
    package func refresh() async {
        let found = models()
        report(found.problems)
        let names = control == .explicit ? state.withLock { Set($0.slots.keys) } : nil
        for location in found.found where names?.contains(location.name) != false {
            guard let now = ModelFingerprint(path: location.path) else { continue }
            let isDue = state.withLock { state in
                let isStable = state.seen[location] == now
                state.seen[location] = now
                let slot = state.slots[location.name]?[location.version]
                let isNew = slot?.path != location.path || slot?.fingerprint != now
                return isNew && isStable && state.failed[location] != now
            }
            if isDue { await load(location) }
        }
        let present = Set(found.found)
        let kept = Set(found.found.map { [$0.name, $0.version] }).union(found.unclear)
        let gone = state.withLock { state in
            var gone: [String] = []
            for (name, versions) in state.slots {
                for (version, slot) in versions where !kept.contains([name, version]) {
                    // A file that is just being replaced is missing for a moment.
                    let location = ModelLocation(name: name, version: version, path: slot.path)
                    if state.seen.removeValue(forKey: location) != nil { continue }
                    state.slots[name]?[version] = nil
                    if state.slots[name]?.isEmpty == true { state.slots[name] = nil }
                    gone.append("\(name) version \(version)")
                }
            }
            state.problems = state.problems.filter { present.contains($0.key) }
            state.failed = state.failed.filter { present.contains($0.key) }
            return gone
        }
        for name in gone { logger.notice("Unloaded \(name), which no longer exists.") }
    }

    private func report(_ problems: [String]) {
        let new = state.withLock { state in
            let new = problems.filter { !state.reported.contains($0) }
            state.reported = Set(problems)
            return new
        }
        for problem in new { logger.warning("\(problem)") }
    }
}

extension Duration {
    /// The time in whole milliseconds.
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}

extension String {
    /// The text with a capital letter at its beginning.
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
