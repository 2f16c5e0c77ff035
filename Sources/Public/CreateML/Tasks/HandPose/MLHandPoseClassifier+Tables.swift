import TabularData

extension MLHandPoseClassifier.DataSource {
    /// Returns the key points as a table with the columns `session_id`, `label` and `keypoints`, a row for each pose.
    /// - Returns: The poses of all sessions.
    /// - Throws: `MLCreateError` for data that cannot be used.
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
