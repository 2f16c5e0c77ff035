import MLEncryption
import MLFiles
import MLNumerics

/// The changing state of a device: the counter of its requests, and the times that it can rely on.
struct DeviceState: Sendable, Equatable {
    static let type: StaticString = "mlk-device-state"
    static let maximumTextByteCount = 4 << 10
    static let codePurpose = "mlk/1 device state"

    /// The counter of the last request that was made.
    var counter = 0
    /// The newest time that a service has signed.
    var signedTime = ServiceTime(seconds: 0)
    /// The boot of the machine at which that was learned.
    var start = ""
    /// The seconds from that boot to when it was learned.
    var secondsSinceStart = 0
    /// The latest time at which a lease was opened; never later than that lease's end.
    var lastUse = ServiceTime(seconds: 0)

    /// The current time, as reliably as it is known.
    ///
    /// While the machine runs on which a service's time was last learned, it is that time plus what has passed since,
    /// and the clock, which can be set, is ignored. Later it is the clock's, unless that lies before a time that is
    /// known to have passed.
    func time(_ clock: DeviceClock) -> ServiceTime { max(reportedTime(clock) ?? max(clock.now(), signedTime), lastUse) }

    /// The time a service has signed since this boot plus what has passed since; `nil` when it has signed none.
    private func reportedTime(_ clock: DeviceClock) -> ServiceTime? {
        let (name, seconds) = clock.sinceStart()
        guard !name.isEmpty, name == start, seconds >= secondsSinceStart else { return nil }
        return signedTime.advanced(by: seconds - secondsSinceStart)
    }

    /// Records a time that a service has signed.
    ///
    /// If `isFresh` is true, it was signed for a request just made, and so is the present; it also corrects
    /// ``lastUse``, which ends the harm of a clock that was once wrong. Any other is a time that has passed, and
    /// nothing more.
    mutating func learn(_ time: ServiceTime, _ clock: DeviceClock, isFresh: Bool) {
        let told = reportedTime(clock)
        if isFresh { lastUse = min(lastUse, time) }
        guard time > told ?? signedTime || isFresh && told == nil else { return }
        signedTime = max(time, signedTime)
        if isFresh || told != nil { (start, secondsSinceStart) = clock.sinceStart() } else { start = "" }
    }

    // MARK: Text

    func text(_ key: ModelKey) throws(ModelError) -> [UInt8] {
        let members: [JSONValue.Member] = [
            .integer("counter", counter), .integer("format", 1), .text("lastUse", lastUse),
            .integer("secondsSinceStart", secondsSinceStart), .text("signedTime", signedTime), .text("start", start),
            .text("type", Self.type.description),
        ]
        let code = try AuthenticatedText.code(members, key, Self.codePurpose)
        return CanonicalWriter.bytes(.object(members + [.base64("mac", code)]))
    }

    init() {}

    init(text: [UInt8], _ key: ModelKey) throws(ModelError) {
        let (state, code) = try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.object { (object) throws(ModelError) in try Self.read(&object) }
        }
        try AuthenticatedText.check(code, of: text, key, Self.codePurpose)
        self = state
    }

    private static func read(_ object: inout CanonicalReader) throws(ModelError) -> (DeviceState, [UInt8]) {
        var state = DeviceState()
        state.counter = try object.integer("counter")
        try object.format()
        state.lastUse = try object.time("lastUse")
        let code = try object.base64("mac", count: 32)
        state.secondsSinceStart = try object.integer("secondsSinceStart")
        state.signedTime = try object.time("signedTime")
        state.start = try object.text("start", limit: 64)
        try object.type(type)
        return (state, code)
    }
}
