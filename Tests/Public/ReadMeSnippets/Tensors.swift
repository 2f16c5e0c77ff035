// What the article "Compute with tensors" shows.
import CoreML

func computeWithTensors() async {
    let weights = MLTensor([1.0, 2.0, 4.0])
    let matrix = MLTensor(shape: [2, 3], scalars: [1, 2, 3, 4, 5, 6], scalarType: Float.self)
    let noise = MLTensor(randomNormal: [2, 3], seed: 1, scalarType: Float.self)
    let rows: MLTensor = [[1, 2, 3], [4, 5, 6]]

    let scaled = (matrix + noise) / weights * 2
    let mean = scaled.mean(alongAxes: 1, keepRank: true)
    let kept = scaled.replacing(with: Float(0), where: scaled .< mean)

    let lastColumn = matrix[..., -1]
    let block = matrix[0..<1, nil]
    let batch = matrix[.newAxis, ...]

    let (values, places) = kept.topK(2)
    let best = await values.shapedArray(of: Float.self)
    let columns = await places.shapedArray(of: Int32.self)
    print(best.shape, columns.scalars.count)

    print(rows, lastColumn, block, batch)
}

func nextToken(_ tokens: MLTensor, _ model: MLModel, _ state: MLState) async throws -> MLTensor {
    let outputs = try await model.prediction(from: ["tokens": tokens], using: state)
    guard let logits = outputs["logits"] else { return tokens }
    let last = logits[nil, -1]
    return last.argmax(alongAxis: -1, keepRank: true)
}
