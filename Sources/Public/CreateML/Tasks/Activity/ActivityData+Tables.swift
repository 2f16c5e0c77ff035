import TabularData

extension MLActivityClassifier.DataSource {
    /// Gathers all recordings in a table of the sensors, the labels and the recordings.
    /// - Parameters:
    ///   - featureColumns: The names of the sensors' columns, at least one.
    ///   - labelColumn: The name of the column of labels; "label" if `nil`.
    ///   - recordingFileColumn: The name of the column of recordings; "recordingFile" if `nil`.
    /// - Returns: The rows of all recordings.
    /// - Throws: `MLCreateError` for columns, numbers and labels that are missing, and files that cannot be read.
    public func labeledSensorData(
        featureColumns: [String],
        labelColumn: String? = nil,
        recordingFileColumn: String? = nil
    ) throws -> MLDataTable {
        try MLDataTable(
            converting: gatherAnnotatedFeatures(
                featureColumns: featureColumns,
                labelColumn: labelColumn ?? ActivityTable.labelColumn,
                recordingFileColumn: recordingFileColumn
            )
        )
    }

    /// Gathers all recordings in a table with a column `partition` that divides those of each label by proportions.
    ///
    /// The rows of a recording stay together; its label is that of its first row. The column holds 0 for the first
    /// proportion, 1 for the second, and so on.
    /// - Parameters:
    ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
    ///   - seed: The seed of the assignment; taken from the clock by default.
    ///   - featureColumns: The names of the sensors' columns, at least one.
    ///   - labelColumn: The name of the column of labels.
    ///   - recordingFileColumn: The name of the column of recordings.
    /// - Returns: The table.
    /// - Throws: The errors of `labeledSensorData`, and `MLCreateError` for proportions out of range.
    public func stratifiedSplit(
        proportions: [Double],
        seed: Int = timestampSeed(),
        featureColumns: [String],
        labelColumn: String,
        recordingFileColumn: String
    ) throws -> MLDataTable {
        try labeledSensorData(
            featureColumns: featureColumns,
            labelColumn: labelColumn,
            recordingFileColumn: recordingFileColumn
        ).stratifiedSplitBySequence(
            proportions: proportions,
            by: recordingFileColumn,
            on: labelColumn,
            seed: seed
        )
    }
}
