import MLKernels
import MLNumerics
import MLSeriesTraining
import Testing

/// The series that `Oracles/series/check --fixture` makes.
private func fixtureSeries() throws -> SeriesSet {
    let count = RocketFixture.count * RocketFixture.channels * RocketFixture.length
    let values = (0..<count).map { place -> Float in
        var source = SplitMix64(seed: UInt64(place))
        return Float(Double(source.next() >> 40) / 16_777_216 - 0.5)
    }
    return try SeriesSet(values: values, channelCount: RocketFixture.channels, length: RocketFixture.length)
}

/// Two classes that differ in the frequency of noisy waves.
private func waves(_ count: Int, channels: Int, length: Int, seed: UInt64) throws -> (SeriesSet, [Int]) {
    var state = SplitMix64(seed: seed)
    func unit() -> Float { Float(state.next() >> 40) * 0x1p-24 }
    var (values, labels): ([Float], [Int]) = ([], [])
    for index in 0..<count {
        labels.append(index % 2)
        for _ in 0..<channels {
            let (phase, step) = (unit() * 6, index % 2 == 0 ? Float(0.3) : Float(0.45))
            var angle = phase
            for _ in 0..<length {
                // A triangle wave.
                let part = angle.truncatingRemainder(dividingBy: 2)
                values.append((part < 1 ? part : 2 - part) + 0.3 * unit())
                angle += step
            }
        }
    }
    return (try SeriesSet(values: values, channelCount: channels, length: length), labels)
}

private func message(_ body: () throws(ModelError) -> Void) -> String {
    do throws(ModelError) {
        try body()
        return ""
    } catch { return error.description }
}

@Suite struct RocketTests {
    /// With aeon's parameters the features are aeon's.
    @Test func featuresAreThoseOfAeon() throws {
        let set = try fixtureSeries()
        let rocket = try MiniRocket(
            channelCount: RocketFixture.channels,
            length: RocketFixture.length,
            dilations: RocketFixture.dilations,
            biasCounts: RocketFixture.biasCounts,
            channels: RocketFixture.combinations,
            biases: RocketFixture.biases
        )
        let features = try rocket.features(of: set)
        #expect(RocketFixture.features.count == 2 * rocket.featureCount)
        var others = 0
        for (ours, aeon) in zip(features, RocketFixture.features) where abs(ours - aeon) > 1e-6 {
            others += 1
            // A sum that equals its bias but for rounding may count on one side only.
            #expect(abs(ours - aeon) < 2 / Float(RocketFixture.length - 8 * (RocketFixture.dilations.last ?? 1)) + 1e-6)
        }
        #expect(others * 50 <= RocketFixture.features.count)
    }

    /// The deterministic choices are aeon's.
    @Test func fittingFollowsAeon() throws {
        let rocket = try MiniRocket(fitting: fixtureSeries(), featureCount: 500, seed: 1)
        #expect(rocket.dilations == RocketFixture.dilations)
        #expect(rocket.biasCounts == RocketFixture.biasCounts)
        #expect(rocket.featureCount == RocketFixture.biases.count)
        #expect(rocket.channels.allSatisfy { Set($0).count == $0.count })
        let other = try MiniRocket(fitting: fixtureSeries(), featureCount: 500, seed: 2)
        #expect(other != rocket)
        #expect(try MiniRocket(fitting: fixtureSeries(), featureCount: 500, seed: 1) == rocket)
    }

    /// A convolution written out: sum by sum.
    @Test func featuresAreSharesOfSums() throws {
        let (set, _) = try waves(3, channels: 2, length: 33, seed: 5)
        let rocket = try MiniRocket(fitting: set, featureCount: 84 * 6, seed: 3)
        let features = try rocket.features(of: set)
        var feature = 0
        for (place, dilation) in rocket.dilations.enumerated() {
            for (kernel, twos) in MiniRocket.kernels.enumerated() {
                let channels = rocket.channels[place * 84 + kernel]
                for _ in 0..<rocket.biasCounts[place] {
                    let margin = (place + kernel) % 2 == 0 ? 0 : 4 * dilation
                    var (above, near) = (0, 0)
                    for t in margin..<33 - margin {
                        var sum = 0.0
                        for channel in channels {
                            for tap in 0..<9 {
                                let source = t + (tap - 4) * dilation
                                guard (0..<33).contains(source) else { continue }
                                let weight = [twos.0, twos.1, twos.2].contains(tap) ? 2.0 : -1
                                sum += weight * Double(set.values[(2 * 2 + channel) * 33 + source])
                            }
                        }
                        let difference = sum - Double(rocket.biases[feature])
                        if difference > 0 { above += 1 }
                        if abs(difference) < 1e-5 { near += 1 }
                    }
                    let expected = Float(above) / Float(33 - 2 * margin)
                    let ours = features[2 * rocket.featureCount + feature]
                    #expect(abs(ours - expected) <= Float(near) / Float(33 - 2 * margin) + 1e-6)
                    feature += 1
                }
            }
        }
    }

    /// Series that stand still have sums that equal biases: on which side of them they count is the same in whichever
    /// way they are added.
    @Test func standingStillDoesNotDependOnTheOrderOfSums() throws {
        var state = SplitMix64(seed: 12)
        let (count, length) = (6, 120)
        let values = (0..<count * length / 30).flatMap { _ in
            [Float](repeating: Float(state.next() >> 40) * 0x1p-23 - 1, count: 30)
        }
        let set = try SeriesSet(values: values, channelCount: 1, length: length)
        let rocket = try MiniRocket(fitting: set, featureCount: 84 * 12, seed: 2)
        let features = try rocket.features(of: set)
        for series in 0..<count {
            var feature = 0
            for (place, dilation) in rocket.dilations.enumerated() {
                for (kernel, twos) in MiniRocket.kernels.enumerated() {
                    let margin = (place + kernel) % 2 == 0 ? 0 : 4 * dilation
                    let sums = (margin..<length - margin).map { t in
                        (0..<9).reduce(0.0) { sum, tap in
                            let source = t + (tap - 4) * dilation
                            guard (0..<length).contains(source) else { return sum }
                            let weight = [twos.0, twos.1, twos.2].contains(tap) ? 2.0 : -1
                            return sum + weight * Double(values[series * length + source])
                        }
                    }
                    for _ in 0..<rocket.biasCounts[place] {
                        let above = sums.count { $0 > Double(rocket.biases[feature]) }
                        #expect(features[series * rocket.featureCount + feature] == Float(above) / Float(sums.count))
                        feature += 1
                    }
                }
            }
        }
    }

    /// A sensor's last digit tells series apart that have a peak many thousand times as great.
    @Test func smallestStepsAreSeenBesidePeaks() throws {
        var state = SplitMix64(seed: 13)
        let (count, length) = (20, 200)
        let values = (0..<count).flatMap { index in
            (0..<length).map { t in
                t == 90 ? Float(30) : index % 2 == 0 ? 0 : Float(state.next() % 3) * 1e-4
            }
        }
        let set = try SeriesSet(values: values, channelCount: 1, length: length)
        let rocket = try MiniRocket(fitting: set, featureCount: 84 * 12, seed: 2)
        let features = try rocket.features(of: set)
        let different = (0..<rocket.featureCount).count { abs(features[$0] - features[rocket.featureCount + $0]) > 0.1 }
        #expect(different * 2 > rocket.featureCount)
    }

    /// The weights solve the normal equations of the penalty that was chosen.
    @Test func ridgeSolvesItsEquations() throws {
        var state = SplitMix64(seed: 4)
        let (count, width) = (70, 12)
        let features = (0..<count * width).map { _ in Float(state.next() >> 40) * 0x1p-24 }
        let labels = (0..<count).map {
            features[$0 * width] + features[$0 * width + 1] > 1 ? 1 : (features[$0 * width] > 0.5 ? 2 : 0)
        }
        let ridge = try RidgeClassifier(features: features, labels: labels, classCount: 3)
        #expect(RidgeClassifier.penalties.contains(ridge.penalty))
        let decisions = ridge.decisions(features)
        for label in 0..<3 {
            // Σ residual = 0, and Σ residual · x = penalty · deviation² · w for every centred feature.
            let residuals = (0..<count).map { (labels[$0] == label ? 1.0 : -1) - Double(decisions[$0 * 3 + label]) }
            #expect(abs(residuals.reduce(0, +)) < 1e-3)
            for k in 0..<width {
                let mean = (0..<count).reduce(0.0) { $0 + Double(features[$1 * width + k]) } / Double(count)
                let variance =
                    (0..<count).reduce(0.0) {
                        let difference = Double(features[$1 * width + k]) - mean
                        return $0 + difference * difference
                    } / Double(count)
                let flow = (0..<count).reduce(0.0) { $0 + residuals[$1] * (Double(features[$1 * width + k]) - mean) }
                let expected = ridge.penalty * variance * Double(ridge.weights[label * width + k])
                #expect(abs(flow - expected) < 1e-3)
            }
        }
    }

    /// Leaving examples out one by one, in the plainest way, chooses the same penalty.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5])
    func ridgeChoosesByLeavingOut(seed: UInt64) throws {
        var state = SplitMix64(seed: seed)
        let (count, width) = (24, 6)
        let features = (0..<count * width).map { _ in Float(state.next() >> 40) * 0x1p-24 }
        let labels = (0..<count).map { features[$0 * width] + 0.8 * Float(state.next() >> 40) * 0x1p-24 > 0.9 ? 1 : 0 }
        let ridge = try RidgeClassifier(features: features, labels: labels, classCount: 2)
        // Standardised features, then a one for the intercept.
        var rows = (0..<count).map { row in (0..<width).map { Double(features[row * width + $0]) } + [1] }
        for k in 0..<width {
            let mean = rows.reduce(0) { $0 + $1[k] } / Double(count)
            let deviation = (rows.reduce(0) { $0 + ($1[k] - mean) * ($1[k] - mean) } / Double(count)).squareRoot()
            for row in 0..<count { rows[row][k] = (rows[row][k] - mean) / deviation }
        }
        let errors = RidgeClassifier.penalties.map { penalty in
            (0..<count).reduce(0.0) { total, left in
                var matrix = (0...width).map { a in
                    (0...width).map { b in
                        rows.indices.reduce(a == b && a < width ? penalty : 0) {
                            $1 == left ? $0 : $0 + rows[$1][a] * rows[$1][b]
                        }
                    }
                }
                var right = (0...width).map { a in
                    rows.indices.reduce(0.0) { $1 == left ? $0 : $0 + rows[$1][a] * (labels[$1] == 1 ? 1 : -1) }
                }
                // Gauss's elimination.
                for pivot in 0...width {
                    for row in 0...width where row != pivot {
                        let factor = matrix[row][pivot] / matrix[pivot][pivot]
                        for column in pivot...width { matrix[row][column] -= factor * matrix[pivot][column] }
                        right[row] -= factor * right[pivot]
                    }
                }
                let decision = (0...width).reduce(0.0) { $0 + right[$1] / matrix[$1][$1] * rows[left][$1] }
                let error = decision - (labels[left] == 1 ? 1 : -1)
                return total + error * error
            }
        }
        let best = errors.indices.min { errors[$0] < errors[$1] }
        #expect(RidgeClassifier.penalties[best ?? -1] == ridge.penalty)
    }

    @Test func wavesAreTold() throws {
        let (set, labels) = try waves(40, channels: 2, length: 40, seed: 8)
        let rocket = try MiniRocket(fitting: set, featureCount: 1000, seed: 1)
        let ridge = try RidgeClassifier(features: try rocket.features(of: set), labels: labels, classCount: 2)
        let (test, truth) = try waves(100, channels: 2, length: 40, seed: 9)
        let decisions = ridge.decisions(try rocket.features(of: test))
        let right = truth.indices.count { (decisions[2 * $0 + 1] > decisions[2 * $0] ? 1 : 0) == truth[$0] }
        #expect(right >= 95)
    }

    @Test func threadsDoNotMatter() throws {
        let (set, labels) = try waves(150, channels: 3, length: 50, seed: 6)
        func fit() throws -> ([Float], [Float]) {
            let features = try MiniRocket(fitting: set, featureCount: 840, seed: 7).features(of: set)
            return (features, try RidgeClassifier(features: features, labels: labels, classCount: 2).weights)
        }
        defer { Workers.limit(to: 0) }
        Workers.limit(to: 1)
        let one = try fit()
        Workers.limit(to: 2)
        let two = try fit()
        #expect(one.0 == two.0)
        #expect(one.1 == two.1)
    }

    @Test func unusableInputIsNamed() throws {
        #expect(
            message { () throws(ModelError) in _ = try SeriesSet(values: [], channelCount: 1, length: 3) }.contains(
                "0 numbers"
            )
        )
        #expect(
            message { () throws(ModelError) in _ = try SeriesSet(values: [1, 2, .nan, 4], channelCount: 2, length: 2) }
                .contains("series 0 is nan in channel 1 at point 0")
        )
        let short = try SeriesSet(values: [1, 2, 3, 4, 5, 6, 7, 8], channelCount: 1, length: 8)
        #expect(message { () throws(ModelError) in _ = try MiniRocket(fitting: short, seed: 1) }.contains("at least 9"))
        let nine = try SeriesSet(values: [Float](repeating: 1, count: 18), channelCount: 1, length: 9)
        let rocket = try MiniRocket(fitting: nine, featureCount: 84, seed: 1)
        #expect(message { () throws(ModelError) in _ = try rocket.features(of: short) }.contains("fitted to 1 of 9"))
        #expect(
            message { () throws(ModelError) in
                _ = try RidgeClassifier(features: [1, 2], labels: [0, 5], classCount: 2)
            }.contains("at least two")
        )
        #expect(
            message { () throws(ModelError) in
                _ = try MiniRocket(
                    channelCount: 1,
                    length: 9,
                    dilations: [2],
                    biasCounts: [1],
                    channels: [],
                    biases: []
                )
            }.contains("not parameters")
        )
    }
}
