import Foundation
import TabularData

/// Data of time series for tests, the same everywhere (Lehmer's generator).
struct SeriesNoise {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func unit() -> Double {
        state = state &* 48271 % 2_147_483_647
        return Double(state) / 2_147_483_647
    }
}

enum SeriesData {
    /// Recordings of 60 rows, with a person who walks or runs: two sensors.
    static func activities(_ count: Int, seed: UInt64, rows: Int = 60) -> DataFrame {
        var noise = SeriesNoise(seed)
        var (x, y, labels, files): ([Double], [Double], [String], [String]) = ([], [], [], [])
        for index in 0..<count {
            let phase = noise.unit() * 6
            for row in 0..<rows {
                let speed = index % 2 == 0 ? 0.35 : 0.9
                x.append(9.8 + sin(phase + speed * Double(row)) + 0.2 * noise.unit())
                y.append(cos(phase + speed * Double(row)) * 0.5 + 0.2 * noise.unit())
                labels.append(index % 2 == 0 ? "walk" : "run")
                files.append("recording \(index)")
            }
        }
        return DataFrame(columns: [
            Column<Double>(name: "x", contents: x).eraseToAnyColumn(),
            Column<Double>(name: "y", contents: y).eraseToAnyColumn(),
            Column<String>(name: "activity", contents: labels).eraseToAnyColumn(),
            Column<String>(name: "file", contents: files).eraseToAnyColumn(),
        ])
    }

    /// Poses of `joints` joints whose fingers are spread or not.
    static func pose(_ noise: inout SeriesNoise, joints: Int, spread: Double) -> [Double] {
        let (cx, cy, size) = (noise.unit(), noise.unit(), 0.1 + 0.2 * noise.unit())
        var pose = [Double](repeating: 0, count: 3 * joints)
        for joint in 0..<joints {
            let angle = spread * Double(joint) / Double(joints) * 3
            let length = size * (0.3 + 0.7 * Double(joint % 4))
            pose[joint] = cx + cos(angle) * length + 0.01 * noise.unit()
            pose[joints + joint] = cy + sin(angle) * length + 0.01 * noise.unit()
            pose[2 * joints + joint] = 0.5 + 0.5 * noise.unit()
        }
        return pose
    }

    /// Sessions of one pose (`frames` 1) or of poses whose fingers open and close slowly or quickly.
    static func poses(_ count: Int, joints: Int, frames: Int, seed: UInt64) -> DataFrame {
        var noise = SeriesNoise(seed)
        var (sessions, labels, poses): ([Int], [String], [[Double]]) = ([], [], [])
        for index in 0..<count {
            for frame in 0..<frames {
                let speed = index % 2 == 0 ? 0.3 : 1.1
                let spread = frames == 1 ? (index % 2 == 0 ? 0.3 : 1) : 0.6 + 0.4 * sin(speed * Double(frame))
                sessions.append(index)
                labels.append(index % 2 == 0 ? "slow" : "quick")
                poses.append(pose(&noise, joints: joints, spread: spread))
            }
        }
        return DataFrame(columns: [
            Column<Int>(name: "session_id", contents: sessions).eraseToAnyColumn(),
            Column<String>(name: "label", contents: labels).eraseToAnyColumn(),
            Column<[Double]>(name: "keypoints", contents: poses).eraseToAnyColumn(),
        ])
    }

    /// A WAV file of a hum (16 kHz, 16 bits).
    static func wav(_ frequency: Double, seconds: Double, seed: UInt64) -> Data {
        var noise = SeriesNoise(seed)
        let samples = (0..<Int(seconds * 16_000)).map { sample -> Int16 in
            Int16(8000 * sin(2 * .pi * frequency * Double(sample) / 16_000) + 600 * (noise.unit() - 0.5))
        }
        var data = Data("RIFF".utf8)
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
        }
        append(UInt32(36 + samples.count * 2))
        data.append(Data("WAVEfmt ".utf8))
        append(UInt32(16))
        append(UInt16(1))
        append(UInt16(1))
        append(UInt32(16_000))
        append(UInt32(32_000))
        append(UInt16(2))
        append(UInt16(16))
        data.append(Data("data".utf8))
        append(UInt32(samples.count * 2))
        for sample in samples { append(sample) }
        return data
    }
}
