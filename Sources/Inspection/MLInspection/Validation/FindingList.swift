import MLNumerics

/// Collects findings while a model is traversed.
struct FindingList {
    private(set) var findings: [ModelFinding] = []
    /// The current place in the model.
    private var location: [String] = []
    private var known: Set<ModelFinding> = []

    mutating func error(_ message: String, at steps: String...) { add(.error, message, steps) }

    mutating func warning(_ message: String, at steps: String...) { add(.warning, message, steps) }

    /// Records an error; its trail is relative to the current place.
    mutating func error(_ error: ModelError) { add(.error, error.message, error.trail) }

    var hasErrors: Bool { findings.contains { $0.severity == .error } }

    /// Whether an error with this message was found at any place.
    func hasError(saying message: String) -> Bool {
        findings.contains { $0.severity == .error && $0.message == message }
    }

    /// Runs `body` one level deeper.
    mutating func inside(_ step: String, _ body: (inout FindingList) -> Void) {
        location.append(step)
        body(&self)
        location.removeLast()
    }

    /// Runs `body` and records an error as a finding.
    ///
    /// - Returns: The result of `body`; `nil` after an error.
    mutating func catching<R>(_ body: () throws(ModelError) -> R) -> R? {
        do throws(ModelError) { return try body() } catch {
            self.error(error)
            return nil
        }
    }

    private mutating func add(_ severity: ModelFinding.Severity, _ message: String, _ steps: [String]) {
        let finding = ModelFinding(
            severity: severity,
            location: location + steps.filter { !$0.isEmpty },
            message: message
        )
        if known.insert(finding).inserted { findings.append(finding) }
    }
}
