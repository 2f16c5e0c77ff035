import TabularData

extension KeypointDataSource {
    /// The paths of the files and their labels.
    /// - Throws: `MLCreateError.generic` for key points in memory, which belong to no files.
    func annotatedFiles() throws -> MLDataTable {
        guard let names = try annotatedFileNamesTable() else {
            throw MLCreateError.generic(
                reason: "key points in memory are not of files; keypointsWithAnnotations gives them as a table"
            )
        }
        return try MLDataTable(converting: names)
    }

    func split(_ proportions: [Double], _ seed: Int, _ label: String) throws -> MLDataTable {
        switch try source() {
        case .keypoints(let frame, let session, _, _):
            return try MLDataTable(converting: frame)
                .stratifiedSplitBySequence(proportions: proportions, by: session, on: label, seed: seed)
        case .directories, .files:
            var table = try MLDataTable(converting: KeypointTable.table(sessions().sessions))
            table.renameColumn(named: KeypointTable.labelColumn, to: label)
            return try table.stratifiedSplitBySequence(
                proportions: proportions,
                by: KeypointTable.sessionColumn,
                on: label,
                seed: seed
            )
        case .annotated, .media:
            return try annotatedFiles().stratifiedSplit(proportions: proportions, on: label, seed: seed)
        }
    }
}
