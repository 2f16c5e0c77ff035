import DeploymentPolicy

/// A device's requests in one check, in the order of the client.
enum Step: String, CaseIterable {
    /// A root that there is not yet: 404.
    case root
    /// The timestamp, which is fetched whole.
    case timestamp
    /// The policy, of which the device has the newest: 304.
    case policy
    /// The device's hourly report: 204.
    case report
}

/// The bytes of requests.
struct Requests {
    let team: String
    let app: String
    let collection: String
    let environment = "production"
    /// Of the policy that devices have; empty until it is known.
    var tag = ""
    private var random: Generator

    init(team: String, app: String, collection: String, seed: UInt64) {
        (self.team, self.app, self.collection) = (team, app, collection)
        random = Generator(state: seed)
    }

    private var place: String { "/v1/apps/\(app)/environments/\(environment)/collections/\(collection)" }

    mutating func bytes(_ step: Step, device: UInt32) -> [UInt8] {
        switch step {
        case .root: get("/v1/trust/\(team)/metadata/2.root.json")
        case .timestamp: get("/v1/trust/\(team)/metadata/timestamp.json")
        case .policy: get("\(place)/policy.json", tag.isEmpty ? "" : "If-None-Match: \(tag)\r\n")
        case .report: report(device)
        }
    }

    private func get(_ path: String, _ more: String = "") -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: models.example.org\r\nUser-Agent: fleet\r\n\(more)\r\n".utf8)
    }

    private mutating func report(_ device: UInt32) -> [UInt8] {
        let sketch = SketchPlace(installID: "device-\(device)", salt: "\(environment)/\(collection)")
        let id = String(random.next() | 1 << 63, radix: 16) + String(random.next() | 1 << 63, radix: 16)
        let body =
            #"{"counts":[{"event":"used","release":1}],"deviceClass":"phone","format":1,"id":"\#(id)","#
            + #""operatingSystem":"Linux","running":{"rank":\#(sketch.rank),"register":\#(sketch.register),"release":1}}"#
        let head =
            "POST \(place)/reports HTTP/1.1\r\nHost: models.example.org\r\nUser-Agent: fleet\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        return Array((head + body).utf8)
    }
}

/// SplitMix64: each run is the same.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
