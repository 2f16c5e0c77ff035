import MLExtractors
import MLImages
import MLKernels
import MLNumerics
import MLSeriesTraining

/// Filters that are learned from the patches of pictures, for features without pretrained weights.
///
/// Patches of colour are whitened and clustered by their angles (spherical k-means; Coates, Lee and Ng, 2011, and Coates
/// and Ng, 2012). A filter gives the product of a whitened patch and a cluster's centre. Angles do not depend on
/// rotations, so that the triangular factor of the inverse covariance gives the filters of a symmetric one (ZCA).
/// Everything follows from the pictures and a fixed seed, on any number of threads.
struct PatchDictionary: Hashable, Sendable {
    /// The width and height of the pictures in pixels, 8 to 64.
    let side: Int
    /// [filters, 3, patch, patch], for red, green and blue from 0 to 255.
    let filters: [Float]
    /// A number for each filter.
    let bias: [Float]
    /// What a filter's result must exceed, in either direction, to count: a quarter of the results do.
    let threshold: Float

    static let (leastSide, greatestSide) = (8, 64)
    /// The pictures that are looked at, and the patches that are drawn from them.
    static let pictureLimit = 400
    private static let patchCount = 8000
    private static let filterCount = 128
    private static let rounds = 10
    /// The share of the identity in the covariance, against the amplification of noise.
    private static let shrinkage = 0.1
    /// The share of patches, those with the least contrast, that do not make clusters.
    private static let plainShare = 0.2
    private static let activeShare = 0.25

    /// Small pictures have small patches at every pixel, and their edge pixels repeated around them.
    static func geometry(side: Int) -> (patch: Int, stride: Int, margin: Int) {
        side < 24 ? (5, 1, 2) : (7, 2, 0)
    }

    var geometry: (patch: Int, stride: Int, margin: Int) { Self.geometry(side: side) }

    /// The number of filters' results at one place.
    var count: Int { bias.count }

    init(side: Int, filters: [Float], bias: [Float], threshold: Float) {
        self.side = side
        self.filters = filters
        self.bias = bias
        self.threshold = threshold
    }

    /// Learns filters.
    ///
    /// - Parameters:
    ///   - pictures: Upright pictures of any size, at least one.
    ///   - check: Called between the rounds; what it throws ends the learning.
    /// - Throws: `.invalidInput` for pictures without any contrast, and what `check` throws.
    init(_ pictures: [Bitmap], check: () throws -> Void) throws {
        let sides = pictures.map { min($0.width, $0.height) }.sorted()
        let side = min(max(sides[sides.count / 2], Self.leastSide), Self.greatestSide)
        let rows = Self.patches(pictures, side: side)
        let width = rows.count / Self.patchCount
        let labels = [Int](repeating: 0, count: Self.patchCount)
        guard let first = rows.first, rows.contains(where: { $0 != first }),
            let whitening = try? ClassWhitening(rows, labels: labels, classCount: 1, shrinkage: Self.shrinkage)
        else {
            throw ModelError(.invalidInput, "the images are all of one colour; there is nothing to learn from them")
        }
        try check()
        var clusters = PatchClusters(whitening.map(rows), width: width)
        clusters.begin(count: Self.filterCount, plainShare: Self.plainShare)
        for _ in 0..<Self.rounds {
            try check()
            clusters.refine()
        }
        var (filters, bias): ([Float], [Float]) = ([], [])
        for number in 0..<clusters.count {
            let own = whitening.unmapped(clusters.centre(number), offset: 0)
            filters += own.weights.map { Float($0 / 255) }
            bias.append(Float(own.offset))
        }
        let threshold = clusters.magnitude(exceededBy: Self.activeShare)
        self.init(side: side, filters: filters, bias: bias, threshold: Float(threshold))
    }

    /// Patches from random places of all pictures: [patches, 3, patch, patch], components from 0 to 1.
    private static func patches(_ pictures: [Bitmap], side: Int) -> [Float] {
        let (patch, _, margin) = geometry(side: side)
        var source = SplitMix64(seed: 0x7061_7463_6865)
        var rows: [Float] = []
        rows.reserveCapacity(patchCount * 3 * patch * patch)
        for (number, picture) in pictures.enumerated() {
            let count = (number + 1) * patchCount / pictures.count - number * patchCount / pictures.count
            let pixels = picture.converted(to: .rgba)
                .fitted(ImageFeatureEncoder.fitting, region: nil, width: side, height: side).pixels
            for _ in 0..<count {
                let x = Int.random(in: -margin...side + margin - patch, using: &source)
                let y = Int.random(in: -margin...side + margin - patch, using: &source)
                for component in 0..<3 {
                    for row in y..<y + patch {
                        let line = min(max(row, 0), side - 1) * side
                        for column in x..<x + patch {
                            let place = line + min(max(column, 0), side - 1)
                            rows.append(Float(pixels[4 * place + component]) / 255)
                        }
                    }
                }
            }
        }
        return rows
    }
}

/// Spherical k-means: directions of unit length, each the mean of the points that lie closest to it by their angle,
/// weighted by their projections.
struct PatchClusters {
    private let points: [Double]
    private let width: Int
    private let pointCount: Int
    /// [count, width].
    private var centres: [Double] = []
    /// The points that make clusters.
    private var chosen: [Int] = []
    private(set) var count = 0

    /// - Parameters:
    ///   - points: [points, width].
    ///   - width: The number of values of a point, at least 1.
    init(_ points: [Double], width: Int) {
        self.points = points
        self.width = width
        pointCount = points.count / width
    }

    func centre(_ number: Int) -> [Double] { Array(centres[number * width..<(number + 1) * width]) }

    /// Begins with random points as centres, fewer than `count` where there are not as many that are not 0.
    ///
    /// - Parameters:
    ///   - count: The number of centres.
    ///   - plainShare: The share of points, those closest to 0, that are left out of the clusters.
    mutating func begin(count: Int, plainShare: Double) {
        let lengths = (0..<pointCount).map { squaredLength(points, at: $0) }
        let least = lengths.sorted()[Int(Double(pointCount - 1) * plainShare)]
        chosen = (0..<pointCount).filter { lengths[$0] > least }
        if chosen.count < count { chosen = (0..<pointCount).filter { lengths[$0] > 0 } }
        var source = SplitMix64(seed: 0x6B6D_6561_6E73)
        var order = chosen
        order.shuffle(using: &source)
        self.count = min(count, order.count)
        centres = order.prefix(count).flatMap { points[$0 * width..<($0 + 1) * width] }
        for number in 0..<self.count { normalise(number) }
    }

    /// Assigns every chosen point to a centre, and moves the centres; one without points stays.
    mutating func refine() {
        let found = nearest()
        var sums = [Double](repeating: 0, count: centres.count)
        for point in chosen {
            let (number, score) = found[point]
            for place in 0..<width { sums[number * width + place] += score * points[point * width + place] }
        }
        for number in 0..<count where squaredLength(sums, at: number) > 1e-18 {
            for place in number * width..<(number + 1) * width { centres[place] = sums[place] }
            normalise(number)
        }
    }

    /// The magnitude that a share of the products of points and centres exceeds.
    func magnitude(exceededBy share: Double) -> Double {
        var all: [Double] = []
        // Every eighth point: the share is the same.
        for point in stride(from: 0, to: pointCount, by: 8) { all += products(point..<point + 1).map(abs) }
        all.sort()
        return all.isEmpty ? 0 : all[Int(Double(all.count - 1) * (1 - share))]
    }

    /// The centre with the greatest product for each point, and the product.
    private func nearest() -> [(number: Int, score: Double)] {
        let band = 256
        let bands = ImageReader.map((pointCount + band - 1) / band) { index -> [(number: Int, score: Double)] in
            let range = index * band..<min((index + 1) * band, pointCount)
            let scores = products(range)
            return (0..<range.count).map { row in
                var best = row * count
                for place in row * count..<(row + 1) * count where scores[place] > scores[best] { best = place }
                return (best - row * count, scores[best])
            }
        }
        return bands.flatMap { $0 }
    }

    /// [points of the range, centres].
    private func products(_ range: Range<Int>) -> [Double] {
        var result = [Double](repeating: 0, count: range.count * count)
        DoubleKernel.dotProducts(
            Array(points[range.lowerBound * width..<range.upperBound * width]),
            rows: range.count,
            centres,
            rows: count,
            terms: width,
            into: &result
        )
        return result
    }

    private func squaredLength(_ values: [Double], at row: Int) -> Double {
        var sum = 0.0
        for place in row * width..<(row + 1) * width { sum += values[place] * values[place] }
        return sum
    }

    private mutating func normalise(_ number: Int) {
        let length = squaredLength(centres, at: number).squareRoot()
        for place in number * width..<(number + 1) * width { centres[place] /= length }
    }
}
