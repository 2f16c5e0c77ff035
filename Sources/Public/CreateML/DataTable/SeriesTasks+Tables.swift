import TabularData

extension KeypointDataSource {
    /// The paths of the files and their labels.
    /// - Throws: `MLCreateError.generic` for key points in memory, which belong to no files.
    func annotatedFiles() throws -> MLDataTable {
        guard let names = try source().annotatedFileNames() else {
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
            var table = try MLDataTable(converting: KeypointTable.table(sessions()))
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

extension MLActionClassifier.DataSource {
    /// Returns the key points as a table with the columns `session_id`, `label` and `keypoints`, a row for each frame.
    /// - Parameter targetFrameRate: Without effect, as only videos are sampled.
    /// - Returns: The poses of all sessions.
    /// - Throws: `MLCreateError` for videos, naming the alternatives, and for key points that cannot be used.
    public func keypointsWithAnnotations(
        targetFrameRate: Double = MLActionClassifier.__Defaults.targetFrameRate
    ) throws -> MLDataTable {
        try MLDataTable(converting: extractKeypoints(targetFrameRate: targetFrameRate))
    }

    /// Returns the paths of the files and their labels.
    /// - Returns: A row for each file.
    /// - Throws: `MLCreateError.generic` for key points in memory, which belong to no files.
    public func videosWithAnnotations() throws -> MLDataTable { try annotatedFiles() }

    /// Returns a table with a column `partition` that divides the sessions of each label by proportions.
    ///
    /// The rows of a session stay together.  The column holds 0 for the first proportion, 1 for the second, and so on.
    /// Key points in memory keep their columns; those of files have the columns of `keypointsWithAnnotations` with the
    /// labels renamed; videos are divided by name.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - seed: The seed of the assignment; taken from the clock by default.
    ///   - labelColumn: The name of the column of labels.
    /// - Returns: The table.
    /// - Throws: `MLCreateError` for a column that is missing and for proportions out of range.
    public func stratifiedSplit(
        proportions: [Double],
        seed: Int = timestampSeed(),
        labelColumn: String
    ) throws -> MLDataTable {
        try split(proportions, seed, labelColumn)
    }
}

extension MLHandActionClassifier.DataSource {
    /// Returns the key points as a table with the columns `session_id`, `label` and `keypoints`, a row for each frame.
    /// - Parameter targetFrameRate: Without effect, as only videos are sampled.
    /// - Returns: The poses of all sessions.
    /// - Throws: `MLCreateError` for videos, naming the alternatives, and for key points that cannot be used.
    public func keypointsWithAnnotations(
        targetFrameRate: Double = MLHandActionClassifier.__Defaults.targetFrameRate
    ) throws -> MLDataTable {
        try MLDataTable(converting: extractKeypoints(targetFrameRate: targetFrameRate))
    }

    /// Returns the paths of the files and their labels.
    /// - Returns: A row for each file.
    /// - Throws: `MLCreateError.generic` for key points in memory, which belong to no files.
    public func videosWithAnnotations() throws -> MLDataTable { try annotatedFiles() }

    /// Returns a table with a column `partition` that divides the sessions of each label by proportions.
    ///
    /// The rows of a session stay together.  The column holds 0 for the first proportion, 1 for the second, and so on.
    /// Key points in memory keep their columns; those of files have the columns of `keypointsWithAnnotations` with the
    /// labels renamed; videos are divided by name.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - seed: The seed of the assignment; taken from the clock by default.
    ///   - labelColumn: The name of the column of labels.
    /// - Returns: The table.
    /// - Throws: `MLCreateError` for a column that is missing and for proportions out of range.
    public func stratifiedSplit(
        proportions: [Double],
        seed: Int = timestampSeed(),
        labelColumn: String
    ) throws -> MLDataTable {
        try split(proportions, seed, labelColumn)
    }
}

extension MLHandPoseClassifier.DataSource {
    /// Returns the key points as a table with the columns `session_id`, `label` and `keypoints`, a row for each pose.
    /// - Returns: The poses of all sessions.
    /// - Throws: `MLCreateError` for images, naming the alternatives, and for key points that cannot be used.
    public func keypointsWithAnnotations() throws -> MLDataTable {
        try MLDataTable(converting: extractKeypoints())
    }

    /// Returns the paths of the files and their labels.
    /// - Returns: A row for each file.
    /// - Throws: `MLCreateError.generic` for key points in memory, which belong to no files.
    public func imagesWithAnnotations() throws -> MLDataTable { try annotatedFiles() }

    /// Returns a table with a column `partition` that divides the sessions of each label by proportions.
    ///
    /// The rows of a session stay together.  The column holds 0 for the first proportion, 1 for the second, and so on.
    /// Key points in memory keep their columns; those of files have the columns of `keypointsWithAnnotations` with the
    /// labels renamed; images are divided by name.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - seed: The seed of the assignment; taken from the clock by default.
    ///   - labelColumn: The name of the column of labels.
    /// - Returns: The table.
    /// - Throws: `MLCreateError` for a column that is missing and for proportions out of range.
    public func stratifiedSplit(
        proportions: [Double],
        seed: Int = timestampSeed(),
        labelColumn: String
    ) throws -> MLDataTable {
        try split(proportions, seed, labelColumn)
    }
}
