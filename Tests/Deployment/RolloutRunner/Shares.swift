import DeploymentPolicy
import RolloutSimulation

/// P6: shares that are asked for and shares that are got, and whether raising one takes the release from anybody.
enum Shares {
    static func run(devices: Int) -> Bool {
        var draws = Draws(seed: 6)
        let ids = (0..<devices).map { _ in draws.installID() }
        print("P6, \(devices) devices")
        let shares = [1, 10, 100, 1000, 5000, 12_345, 50_000, 90_000, 99_999, 100_000]
        var isReached = true
        for salt in ["rollout-1", "rollout-2", "rollout-3"] {
            var counts = [Int](repeating: 0, count: Bucket.count)
            for id in ids { counts[Bucket.number(installID: id, salt: salt)] += 1 }
            for share in shares {
                let got = counts[..<share].reduce(0, +)
                let probability = Double(share) / Double(Bucket.count)
                let sigma = (Double(devices) * probability * (1 - probability)).squareRoot()
                let distance = sigma == 0 ? 0 : (Double(got) - Double(devices) * probability) / sigma
                let name = "\(salt), \(Double(share) / 1000) %: \(got) devices, sigmas away"
                isReached = RolloutRunner.report(name, distance, abs(distance) <= 3, "at most 3") && isReached
            }
        }
        return isReached && keeps(ids, shares)
    }

    private static func keeps(_ ids: [String], _ shares: [Int]) -> Bool {
        var lost = 0
        let servings = shares.map { share in
            Serving.rollout(salt: "rollout-1", .release(2), share: share, holdout: 0, rest: .release(1))
        }
        for id in ids {
            let bucket = Bucket.number(installID: id, salt: "rollout-1")
            var has = false
            for serving in servings {
                let gets = serving.outcome(of: bucket) == .release(2)
                if has, !gets { lost += 1 }
                has = gets
            }
        }
        return RolloutRunner.report("devices that lost the release as the share rose", Double(lost), lost == 0, "0")
    }
}
