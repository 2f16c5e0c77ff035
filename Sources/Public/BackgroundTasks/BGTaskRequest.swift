import Synchronization

/// A request for background work.
///
/// `@unchecked Sendable`: a lock guards the settings.
open class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
    /// The identifier that the work's handler is registered under.
    public let identifier: String
    /// The date before which the work does not begin; `nil`, the default, for any time.
    public var earliestBeginDate: Date? {
        get { earliest.withLock { $0 } }
        set { earliest.withLock { $0 = newValue } }
    }

    private let earliest = Mutex<Date?>(nil)

    init(identifier: String) { self.identifier = identifier }

    /// A copy that can be changed independently.
    public func copy(with zone: NSZone? = nil) -> Any { duplicate() }

    func duplicate() -> BGTaskRequest {
        let copy = BGTaskRequest(identifier: identifier)
        copy.earliestBeginDate = earliestBeginDate
        return copy
    }

    /// The kind of request, its identifier and its earliest date.
    open override var description: String {
        "\(Swift.type(of: self)) \(identifier)" + (earliestBeginDate.map { ", not before \($0)" } ?? "")
    }
}

/// A request for short work that refreshes an app's content; the machine need not be idle.
///
/// `@unchecked Sendable`: it adds nothing to `BGTaskRequest`.
open class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Makes a request for the handler of an identifier.
    public override init(identifier: String) { super.init(identifier: identifier) }

    override func duplicate() -> BGTaskRequest {
        let copy = BGAppRefreshTaskRequest(identifier: identifier)
        copy.earliestBeginDate = earliestBeginDate
        return copy
    }
}

/// A request for work of several minutes, for when the machine is idle.
///
/// `@unchecked Sendable`: a lock guards the settings.
open class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Whether the work waits until the machine has external power; by default false.
    public var requiresExternalPower: Bool {
        get { needs.withLock { $0.power } }
        set { needs.withLock { $0.power = newValue } }
    }
    /// Whether the work waits until the machine has a network; by default false.
    public var requiresNetworkConnectivity: Bool {
        get { needs.withLock { $0.network } }
        set { needs.withLock { $0.network = newValue } }
    }

    private let needs = Mutex<(power: Bool, network: Bool)>((false, false))

    /// Makes a request for the handler of an identifier.
    public override init(identifier: String) { super.init(identifier: identifier) }

    override func duplicate() -> BGTaskRequest {
        let copy = BGProcessingTaskRequest(identifier: identifier)
        copy.earliestBeginDate = earliestBeginDate
        copy.requiresExternalPower = requiresExternalPower
        copy.requiresNetworkConnectivity = requiresNetworkConnectivity
        return copy
    }
}
