/// A wish for background work.
open class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
    /// The name under which the work was registered.
    public let identifier: String
    /// The work does not begin before; `nil` for any time.
    public var earliestBeginDate: Date?

    init(identifier: String) { self.identifier = identifier }

    public func copy(with zone: NSZone? = nil) -> Any { duplicate() }

    func duplicate() -> BGTaskRequest {
        let copy = BGTaskRequest(identifier: identifier)
        copy.earliestBeginDate = earliestBeginDate
        return copy
    }

    open override var description: String {
        "\(Swift.type(of: self)) \(identifier)" + (earliestBeginDate.map { ", not before \($0)" } ?? "")
    }
}

/// Short work that keeps an app's contents fresh; the machine need not be idle.
open class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    public override init(identifier: String) { super.init(identifier: identifier) }

    override func duplicate() -> BGTaskRequest {
        let copy = BGAppRefreshTaskRequest(identifier: identifier)
        copy.earliestBeginDate = earliestBeginDate
        return copy
    }
}

/// Work of minutes, for when the machine is idle.
open class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    public var requiresExternalPower = false
    public var requiresNetworkConnectivity = false

    public override init(identifier: String) { super.init(identifier: identifier) }

    override func duplicate() -> BGTaskRequest {
        let copy = BGProcessingTaskRequest(identifier: identifier)
        copy.earliestBeginDate = earliestBeginDate
        copy.requiresExternalPower = requiresExternalPower
        copy.requiresNetworkConnectivity = requiresNetworkConnectivity
        return copy
    }
}
