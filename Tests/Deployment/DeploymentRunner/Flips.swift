import DeploymentClient
import DeploymentSupport
import Foundation

/// Lets a server send one wrong bit: in each byte of metadata, policy, release and the archive's header, and at random places of
/// the model's bytes.
/// - Returns: 0 unless a device was fooled.
func flipBits(bodies: Int) async throws -> Int32 {
    let trial = try BitFlips(weights: 280_000)
    var random = SystemRandomNumberGenerator()
    var (refused, fooled) = (0, 0)
    var codes: [String: Int] = [:]
    var unchanged: [String: Int] = [:]
    func tryOut(_ path: String, _ offset: Int, _ bit: Int) async throws {
        switch try await trial.outcome(path, at: offset, bit: bit) {
        case .refused(let code):
            refused += 1
            codes[code.rawValue, default: 0] += 1
        case .unchanged: unchanged[path, default: 0] += 1
        case .fooled:
            fooled += 1
            if fooled < 20 { print("fooled by bit \(bit) of byte \(offset) of \(path)") }
        }
    }
    let paths = try await trial.readFiles()
    guard paths.count >= 8 else { throw Failure("a device reads only \(paths)") }
    for path in paths {
        let count = trial.files[path]?.count ?? 0
        for offset in 0..<min(count, 8192) {
            for bit in path.hasPrefix("/b/") ? [Int.random(in: 0..<8)] : Array(0..<8) {
                try await tryOut(path, offset, bit)
            }
        }
    }
    print("signed bytes and headers: \(refused) refused, \(fooled) fooled, unchanged \(unchanged), codes \(codes)")
    guard let archive = paths.max(by: { (trial.files[$0]?.count ?? 0) < (trial.files[$1]?.count ?? 0) }),
        let count = trial.files[archive]?.count
    else { throw Failure("there is no archive") }
    (refused, codes, unchanged) = (0, [:], [:])
    for _ in 0..<bodies {
        try await tryOut(archive, Int.random(in: 0..<count, using: &random), Int.random(in: 0..<8, using: &random))
    }
    print(
        "bodies: \(refused) of \(bodies) refused, \(fooled) fooled, \(unchanged.values.reduce(0, +)) between two files, codes \(codes)"
    )
    return fooled == 0 ? 0 : 1
}
