/// The plan for the choice of an algorithm for a table.
///
/// Its duration follows from the work of a round of trees: rows × columns × trees.
struct ChoicePlan {
    /// The number of rows from which the automatic split sets enough of them aside.
    private static let manyRows = 5000
    /// The maximum work of tables that are cross-validated: some seconds for the defaults.
    private static let maximumWork = 2_000_000
    /// The maximum work of tables on which other parameters than the defaults are tried: ten seconds on a core.
    private static let maximumVariedWork = 60_000
    /// The total work of all repeats, about two seconds.
    private static let repeatedWork = 15_000
    private static let maximumRepeatCount = 10

    let isCrossValidated: Bool
    let isVaried: Bool
    let folds = 5
    let repeats: Int

    init(_ shape: TableShape) {
        let trees = (shape.classes ?? 0) > 2 ? shape.classes ?? 1 : 1
        let (work, overflows) = (shape.rows * trees).multipliedReportingOverflow(by: max(1, shape.features))
        isCrossValidated = shape.rows < Self.manyRows && !overflows && work <= Self.maximumWork
        isVaried = !overflows && work <= Self.maximumVariedWork
        repeats = overflows ? 1 : min(Self.maximumRepeatCount, max(1, Self.repeatedWork / max(1, work)))
    }
}
