import Glibc
import MLKernels
import MLModels
import MLNumerics

/// The features of texts: rows of indices and values, as `TextModel` computes them.
struct SparseTextMatrix {
    /// The index of each text's first feature, and the end of the last text.
    private(set) var starts: [Int] = [0]
    private(set) var positions: [UInt32] = []
    private(set) var values: [Float] = []
    private(set) var table = KeyTable()
    /// The inverse document frequency of each feature: ln((1 + texts) / (1 + texts with it)) + 1.
    private(set) var scales: [Float] = []
    /// [texts × dimensions] of the word embeddings, when there are any.
    private(set) var vectors: [Float] = []

    var count: Int { starts.count - 1 }

    /// - Throws: The error of the first text that cannot be divided into words.
    init(
        _ texts: [String],
        _ features: TextFeatures,
        minimumCount: Int,
        wordVectors: TextModel.Vectors?
    ) throws(ModelError) {
        let counts = try Self.counts(texts, features)
        var documentFrequencies = [UInt32]()
        for text in counts {
            for (key, _) in text {
                let position = table.insert(key)
                if position == documentFrequencies.count {
                    documentFrequencies.append(1)
                } else {
                    documentFrequencies[position] += 1
                }
            }
        }
        if minimumCount > 1 {
            var kept = KeyTable()
            var keptFrequencies: [UInt32] = []
            for (position, key) in table.keys.enumerated() where documentFrequencies[position] >= minimumCount {
                _ = kept.insert(key)
                keptFrequencies.append(documentFrequencies[position])
            }
            (table, documentFrequencies) = (kept, keptFrequencies)
        }
        scales = documentFrequencies.map { Float(log(Double(1 + counts.count) / Double(1 + $0)) + 1) }
        starts.reserveCapacity(counts.count + 1)
        for text in counts {
            let row = TextModel.values(
                of: text,
                in: table,
                scales: scales,
                normalizes: true,
                isLogarithmic: true
            )
            for (position, value) in row {
                positions.append(UInt32(position))
                values.append(value)
            }
            starts.append(positions.count)
            if let wordVectors { vectors += wordVectors.vector(of: text) }
        }
    }

    /// The features of every text, computed in parallel.
    private static func counts(
        _ texts: [String],
        _ features: TextFeatures
    ) throws(ModelError) -> [[(key: UInt64, count: Int)]] {
        var result = [[(key: UInt64, count: Int)]](repeating: [], count: texts.count)
        let failure = FirstFailure()
        let parts = Swift.min(texts.count, 64)
        result.withUnsafeMutableBufferPointer { result in
            // Each part writes its own rows.
            nonisolated(unsafe) let result = result
            Workers.parallelFor(parts) { part, _ in
                for row in part * texts.count / parts..<(part + 1) * texts.count / parts {
                    failure.catching(row) { () throws(ModelError) in result[row] = try features.counts(texts[row]) }
                }
            }
        }
        try failure.check(texts.count)
        return result
    }
}
