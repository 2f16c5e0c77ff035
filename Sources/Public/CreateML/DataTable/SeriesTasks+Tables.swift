import TabularData

extension KeypointDataSource {
    /// - Throws: for key points in memory, which are of no files.
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
    /// The key points as a table: session, label and the poses of each frame.
    /// - Throws: for videos, with what to do instead, and for key points that cannot be used.
    public func keypointsWithAnnotations(
        targetFrameRate: Double = MLActionClassifier.__Defaults.targetFrameRate
    ) throws -> MLDataTable {
        try MLDataTable(converting: extractKeypoints(targetFrameRate: targetFrameRate))
    }

    /// The names of the files and their labels.
    /// - Throws: for key points in memory, which are of no files.
    public func videosWithAnnotations() throws -> MLDataTable { try annotatedFiles() }

    /// The table with a column `partition` that shares out the sessions of each label by proportions: 0 for the first, 1
    /// for the second, and so on.  A session's rows stay together.
    ///
    /// Key points in memory keep their columns, those of files are as `keypointsWithAnnotations` gives them, with that
    /// name for the labels; videos are shared out by name.
    /// - Throws: for a column that is not there, and proportions that are negative or do not add up to 1.
    public func stratifiedSplit(
        proportions: [Double],
        seed: Int = timestampSeed(),
        labelColumn: String
    ) throws -> MLDataTable {
        try split(proportions, seed, labelColumn)
    }
}

extension MLHandActionClassifier.DataSource {
    /// The key points as a table: session, label and the poses of each frame.
    /// - Throws: for videos, with what to do instead, and for key points that cannot be used.
    public func keypointsWithAnnotations(
        targetFrameRate: Double = MLHandActionClassifier.__Defaults.targetFrameRate
    ) throws -> MLDataTable {
        try MLDataTable(converting: extractKeypoints(targetFrameRate: targetFrameRate))
    }

    /// The names of the files and their labels.
    /// - Throws: for key points in memory, which are of no files.
    public func videosWithAnnotations() throws -> MLDataTable { try annotatedFiles() }

    /// The table with a column `partition` that shares out the sessions of each label by proportions: 0 for the first, 1
    /// for the second, and so on.  A session's rows stay together.
    ///
    /// Key points in memory keep their columns, those of files are as `keypointsWithAnnotations` gives them, with that
    /// name for the labels; videos are shared out by name.
    /// - Throws: for a column that is not there, and proportions that are negative or do not add up to 1.
    public func stratifiedSplit(
        proportions: [Double],
        seed: Int = timestampSeed(),
        labelColumn: String
    ) throws -> MLDataTable {
        try split(proportions, seed, labelColumn)
    }
}

extension MLHandPoseClassifier.DataSource {
    /// The key points as a table: session, label and the pose.
    /// - Throws: for pictures, with what to do instead, and for key points that cannot be used.
    public func keypointsWithAnnotations() throws -> MLDataTable {
        try MLDataTable(converting: extractKeypoints())
    }

    /// The names of the files and their labels.
    /// - Throws: for key points in memory, which are of no files.
    public func imagesWithAnnotations() throws -> MLDataTable { try annotatedFiles() }

    /// The table with a column `partition` that shares out the sessions of each label by proportions: 0 for the first, 1
    /// for the second, and so on.  A session's rows stay together.
    ///
    /// Key points in memory keep their columns, those of files are as `keypointsWithAnnotations` gives them, with that
    /// name for the labels; pictures are shared out by name.
    /// - Throws: for a column that is not there, and proportions that are negative or do not add up to 1.
    public func stratifiedSplit(
        proportions: [Double],
        seed: Int = timestampSeed(),
        labelColumn: String
    ) throws -> MLDataTable {
        try split(proportions, seed, labelColumn)
    }
}
