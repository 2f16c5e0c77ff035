/// The origin of the request that is being answered.
public enum Caller {
    /// The client address that sign-ins are limited by; `nil` for requests from this machine.
    @TaskLocal public static var address: String?
}
