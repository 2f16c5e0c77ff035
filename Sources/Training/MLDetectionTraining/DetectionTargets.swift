import Glibc
import MLNumerics

/// The target outputs of the network for views, in the form of TTFNet (Liu and others 2020): a Gaussian around the
/// centre of each object in the map of its label, and the distances from cells near the centre to the object's four
/// sides.
struct DetectionTargets {
    /// Half of the Gaussian's extent, as a share of half of the object's.
    static let share = 0.54
    /// Distances of cells without an object, which no loss is computed with.
    static let noDistance: Float = 1

    /// [N, labels, cells, cells] each: 1 / n at the centres of n objects, and the weights of the other cells.
    private(set) var centres: [Float]
    private(set) var others: [Float]
    /// [N, 4, cells, cells]: left, top, right and bottom in cells.
    private(set) var sides: [Float]
    /// [N, 1, cells, cells], of sum 1.
    private(set) var weights: [Float]
    private let count: Int
    private let labels: Int

    init(_ views: [[DetectionObject]], labels: Int) {
        count = views.count
        self.labels = labels
        let area = DetectionGrid.cells * DetectionGrid.cells
        centres = [Float](repeating: 0, count: views.count * labels * area)
        others = centres
        sides = [Float](repeating: Self.noDistance, count: views.count * 4 * area)
        weights = [Float](repeating: 0, count: views.count * area)
        // The maps of Gaussians are gathered in `others` first.
        for (index, objects) in views.enumerated() {
            // The smaller object wins where two claim a cell.
            for object in objects.sorted(by: { $0.box.area > $1.box.area }) { draw(object, index) }
        }
        let objectCount = Float(max(views.reduce(0) { $0 + $1.count }, 1))
        let total = max(weights.reduce(0, +), 1e-6)
        for position in weights.indices { weights[position] /= total }
        for position in others.indices {
            if centres[position] > 0 {
                centres[position] = 1 / objectCount
                others[position] = 0
            } else {
                let remaining = 1 - others[position]
                others[position] = remaining * remaining * remaining * remaining / objectCount
            }
        }
    }

    var tensors: [Tensor] {
        let cells = DetectionGrid.cells
        return [
            Tensor(centres, shape: [count, labels, cells, cells]),
            Tensor(others, shape: [count, labels, cells, cells]),
            Tensor(sides, shape: [count, 4, cells, cells]),
            Tensor(weights, shape: [count, 1, cells, cells]),
        ]
    }

    private mutating func draw(_ object: DetectionObject, _ view: Int) {
        let cells = DetectionGrid.cells
        let scale = Double(cells)
        let box = object.box
        let (width, height) = (box.width * scale, box.height * scale)
        let (left, top, right, bottom) = (
            box.left * scale, box.top * scale, box.right * scale, box.bottom * scale
        )
        let column = min(max(Int((left + right) / 2), 0), cells - 1)
        let row = min(max(Int((top + bottom) / 2), 0), cells - 1)
        let (reachX, reachY) = (Int(width / 2 * Self.share), Int(height / 2 * Self.share))
        let (deviationX, deviationY) = (Double(2 * reachX + 1) / 6, Double(2 * reachY + 1) / 6)
        let area = cells * cells
        let map = (view * labels + object.label) * area
        var gaussians: [(cell: Int, value: Float)] = []
        for y in max(row - reachY, 0)...min(row + reachY, cells - 1) {
            for x in max(column - reachX, 0)...min(column + reachX, cells - 1) {
                let (dx, dy) = (Double(x - column) / deviationX, Double(y - row) / deviationY)
                let value = Float(exp(-(dx * dx + dy * dy) / 2))
                let cell = y * cells + x
                others[map + cell] = max(others[map + cell], value)
                let (centreX, centreY) = (Double(x) + 0.5, Double(y) + 0.5)
                // Cells outside of the object, as of one smaller than a cell, cannot state its sides but for its own.
                let isInside = centreX > left && centreX < right && centreY > top && centreY < bottom
                guard isInside || x == column && y == row else { continue }
                gaussians.append((cell, value))
                let distances = [centreX - left, centreY - top, right - centreX, bottom - centreY]
                for (side, distance) in distances.enumerated() {
                    sides[(view * 4 + side) * area + cell] = Float(max(distance, 0.02))
                }
            }
        }
        centres[map + row * cells + column] = 1
        guard object.isExact else { return }
        // An object's share grows with the logarithm of its area in pixels.
        let pixels = max(width * height * Double(DetectionGrid.stride * DetectionGrid.stride), 2)
        let sum = gaussians.reduce(0) { $0 + $1.value }
        for (cell, value) in gaussians { weights[view * area + cell] = value / max(sum, 1e-6) * Float(log(pixels)) }
    }
}
