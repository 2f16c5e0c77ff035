import TabularData

extension MLActivityClassifier.DataSource {
    /// All recordings as one table: the sensors, the labels (`label` by default) and the recordings (`recordingFile`).
    /// - Throws: for tables without the columns, and numbers and labels that are missing.
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

    /// All recordings as one table with a column `partition`, which shares out the recordings of each label by
    /// proportions.  A recording's rows stay together; its label is that of its first row.
    /// - Throws: as `labeledSensorData`, and for proportions that are negative or do not add up to 1.
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
