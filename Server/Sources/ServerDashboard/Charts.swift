import DeploymentPolicy
import Foundation
import ServerCore

/// Adoption over time: the number of devices that ran each release, as stacked areas.
struct AdoptionChart {
    struct Area {
        let name: String
        /// The index of one of the eight colours.
        let colour: Int
        /// The outline in a plane of 1000 × 400.
        let path: String
        let now: String
    }

    struct Row {
        let time: String
        let counts: [String]
    }

    let areas: [Area]
    /// The labels from top to bottom.
    let levels: [String]
    let times: [String]
    let names: [String]
    let rows: [Row]
    let total: String

    /// Creates a chart; `nil` where no device has reported.
    init?(_ adoption: Adoption) {
        guard !adoption.releases.isEmpty, let last = adoption.points.last else { return nil }
        let totals = adoption.points.map { $0.devices.reduce(0, +) }
        let top = Self.roundTop(max(1, totals.max() ?? 1))
        let width = 1000.0 / Double(max(adoption.points.count - 1, 1))
        var base = [Double](repeating: 0, count: adoption.points.count)
        var areas: [Area] = []
        for (index, release) in adoption.releases.enumerated() {
            let heights = zip(base, adoption.points).map { $0 + Double($1.devices[index]) }
            func point(_ place: Int, _ value: Double) -> String {
                let x = adoption.points.count == 1 ? (place == 0 ? 0 : 1000) : Double(place) * width
                return "\(Self.text(x)) \(Self.text(400 - 400 * value / Double(top)))"
            }
            var upper = heights.indices.map { point($0, heights[$0]) }
            var lower = base.indices.map { point($0, base[$0]) }
            if adoption.points.count == 1 {
                upper.append(upper[0].replacing("0 ", with: "1000 ", maxReplacements: 1))
                lower.append(lower[0].replacing("0 ", with: "1000 ", maxReplacements: 1))
            }
            areas.append(
                Area(
                    name: Self.name(release),
                    colour: release == 0 ? 0 : 1 + (release - 1) % 7,
                    path: "M" + (upper + lower.reversed()).joined(separator: "L") + "Z",
                    now: Texts.number(last.devices[index])
                )
            )
            base = heights
        }
        self.areas = areas.reversed()
        levels = (0...4).reversed().map { Texts.number(top * $0 / 4) }
        let count = min(adoption.points.count, 5)
        let span = last.from.timeIntervalSince(adoption.points[0].from)
        times = (0..<count).map { index in
            let point = adoption.points[count == 1 ? 0 : index * (adoption.points.count - 1) / (count - 1)]
            return span > 3 * 86_400 ? Texts.day(point.from) : String(Texts.moment(point.from).suffix(5))
        }
        names = adoption.releases.map(Self.name)
        rows = adoption.points.reversed().map { point in
            Row(time: Texts.moment(point.from), counts: point.devices.map(Texts.number))
        }
        total = Texts.number(totals.last ?? 0)
    }

    static func name(_ release: Int) -> String { release == 0 ? "Models of the app" : "Release \(release)" }

    private static func text(_ value: Double) -> String { String(format: "%.1f", value) }

    /// The next round number that is divisible by four.
    private static func roundTop(_ value: Int) -> Int {
        var scale = 1
        while scale * 40 < value { scale *= 10 }
        for step in [4, 8, 12, 16, 20, 24, 32, 40] where step * scale >= value { return step * scale }
        return 40 * scale
    }
}

/// The number of devices that reached each stage of adopting a release.
struct FunnelChart {
    struct Stage {
        let key: String
        let name: String
        let count: String
        /// The share of the first stage, for the bar's length.
        let width: String
        /// The share of the previous stage.
        let passage: String?
    }

    let stages: [Stage]

    /// Creates a chart; `nil` where nothing was reported.
    init?(_ funnel: AdoptionFunnel) {
        let all = AdoptionFunnel.Stage.allCases.filter { $0 != .offered || funnel.count(.offered) > 0 }
        let first = all.map(funnel.count).max() ?? 0
        guard first > 0 else { return nil }
        stages = all.enumerated().map { index, stage in
            Stage(
                key: stage.rawValue,
                name: stage.rawValue.prefix(1).uppercased() + stage.rawValue.dropFirst(),
                count: Texts.number(funnel.count(stage)),
                width: String(format: "%.2f%%", 100 * Double(funnel.count(stage)) / Double(first)),
                passage: index == 0 ? nil : funnel.passage(from: all[index - 1]).map(Texts.percent)
            )
        }
    }
}

/// Failures by reason, with confidence intervals of their rates.
struct FailureChart {
    struct Row {
        let reason: String
        let kind: String
        let count: String
        let rate: String
        let interval: String
        /// Positions on the scale.
        let lower: String
        let width: String
        let rateAt: String
    }

    let rows: [Row]
    let top: String
    let reports: String

    init?(_ failures: [FailureGroup]) {
        guard !failures.isEmpty else { return nil }
        let displayed = Array(failures.prefix(12))
        let maximum = max(displayed.map(\.interval.upper).max() ?? 1, 0.001)
        func place(_ share: Double) -> String { String(format: "%.2f%%", 100 * min(share / maximum, 1)) }
        rows = displayed.map { group in
            let rate = Double(group.count) / Double(max(group.reports, group.count, 1))
            let interval = group.interval
            return Row(
                reason: Self.words[group.reason] ?? group.reason,
                kind: [group.operatingSystem, group.deviceClass].filter { !$0.isEmpty }.joined(separator: " · "),
                count: Texts.number(group.count),
                rate: Texts.percent(rate),
                interval: "\(Texts.percent(interval.lower)) – \(Texts.percent(interval.upper))",
                lower: place(interval.lower),
                width: place(interval.upper - interval.lower),
                rateAt: place(rate)
            )
        }
        top = Texts.percent(maximum)
        reports = Texts.number(failures.reduce(0) { $0 + $1.count })
    }

    private static let words = [
        "download": "Download", "verification": "Verification", "selfTest": "Self-test", "slow": "Too slow",
        "activation": "Activation", "load": "Loading", "prediction": "Prediction", "crash": "Crash",
        "keyRelease": "Key release", "other": "Other",
    ]
}

/// The shares of the default's outcomes, as a ring.
struct ShareRing {
    struct Arc {
        let name: String
        let percent: String
        let colour: Int
        /// The values for `stroke-dasharray` and `stroke-dashoffset` of a circle whose length is 100.
        let length: String
        let offset: String
    }

    let arcs: [Arc]
    let main: String
    let label: String

    init(_ line: DefinitionLines.Line) {
        var from = 0
        arcs = line.shares.enumerated().map { index, share in
            defer { from += share.thousandths }
            return Arc(
                name: share.name,
                percent: share.percent,
                colour: index == 0 ? 1 : share.name == "held out" ? 3 : 0,
                length: String(
                    format: "%.3f %.3f",
                    Double(share.thousandths) / 1000,
                    100 - Double(share.thousandths) / 1000
                ),
                offset: String(format: "%.3f", 25 - Double(from) / 1000)
            )
        }
        main = line.shares.first?.percent ?? ""
        label = line.serves
    }
}
