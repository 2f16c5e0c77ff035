import DeploymentPolicy
import Glibc
import RolloutSimulation

/// P4: evaluations of 50 rules of 5 conditions each, per second of one processor.
enum Evaluations {
    static func run() throws -> Bool {
        print("P4, 50 rules of 5 comparisons each, processor time of one thread")
        var isReached = true
        for (name, isLast, minimum) in [
            ("no rule matches, the last comparison of each fails", false, 1e6), ("the last rule matches", true, 1e6),
        ] {
            let evaluator = try PolicyEvaluator(policy(lastMatches: isLast))
            let devices = self.devices(1024)
            var checksum = 0
            for device in devices { checksum += number(evaluator.evaluate(device).outcome) }
            var best = 0.0
            for _ in 0..<5 {
                let (start, rounds) = (processorSeconds(), 300)
                for _ in 0..<rounds {
                    for index in devices.indices { checksum &+= number(evaluator.evaluate(devices[index]).outcome) }
                }
                best = max(best, Double(rounds * devices.count) / (processorSeconds() - start))
            }
            let line = "\(name), million evaluations a second (checksum \(checksum))"
            isReached = RolloutRunner.report(line, best / 1e6, best >= minimum, "at least 1") && isReached
        }
        return isReached
    }

    private static func number(_ outcome: Outcome) -> Int {
        if case .release(let number) = outcome { number } else { 0 }
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Rules with different values everywhere, whose comparisons are true but for the last one.
    private static func policy(lastMatches: Bool) throws -> Policy {
        var policy = Policy(
            version: 1,
            issued: PolicyDate(secondsSince1970: 1_800_000_000),
            expires: PolicyDate(secondsSince1970: 1_900_000_000),
            app: "flowers",
            environment: "prod",
            collection: "FlowerModels",
            deployment: "p4",
            fallback: .rollout(salt: "default", .release(1), share: 50_000, rest: .bundled)
        )
        policy.releases = (1...2).map { number in
            ReleaseReference(
                number: number,
                counter: number,
                target: ReleaseReference.target(app: "flowers", collection: "FlowerModels", number: number),
                sha256: String(repeating: "ab", count: 32),
                length: 1000
            )
        }
        policy.rules = (0..<50).map { index in
            let isOpen = lastMatches && index == 49
            return Rule(
                "rule\(index)",
                when: .all([
                    .compare(.deviceClass, .in, "tablet", "phone", "desktop"),
                    .compare(.osVersion, .atLeast, "12.\(index)"),
                    .compare(.memory, .atLeast, Double(1_000_000 + index)),
                    .compare(.languageCode, .in, "en-GB", "de-DE", "fr-FR", "x-\(index)"),
                    isOpen ? .compare(.channel, .isNot, "nightly") : .compare(.appVersion, .less, "1.0.\(index)"),
                ]),
                serve: .rollout(salt: "rule\(index)", .release(2), share: 30_000, rest: .release(1))
            )
        }
        return policy
    }

    private static func devices(_ count: Int) -> [DeviceAttributes] {
        var draws = Draws(seed: 4)
        return (0..<count).map { _ in
            var device = DeviceAttributes()
            device.languageCode = ["en-GB", "de-DE", "fr-FR"][Int(draws.next() % 3)]
            device.deviceClass = [.tablet, .phone, .desktop][Int(draws.next() % 3)]
            device.operatingSystem = "iPadOS"
            device.osVersion = VersionNumber("17.\(draws.next() % 8).\(draws.next() % 4)")
            device.regionCode = "GB"
            device.appVersion = VersionNumber("2.\(draws.next() % 20)")
            device.deviceModel = "iPad14,\(draws.next() % 9)"
            device.memory = Int(4 + draws.next() % 12) << 30
            device.channel = "store"
            device.runtimeVersion = VersionNumber("1.0")
            device.installID = draws.installID()
            return device
        }
    }
}
