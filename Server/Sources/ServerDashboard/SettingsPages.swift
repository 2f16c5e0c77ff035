import Foundation
import Hummingbird
import ServerCore

extension Dashboard {
    func addSettings<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("teams/:team/keys") { visit in try await keysPage(visit) }
        pages.form("teams/:team/keys") { visit, _ in
            let team = try visit.name("team")
            _ = try await service.rotateKey(of: team, as: visit.actor)
            return redirect("/teams/\(team)/keys?done=key")
        }
        pages.get("teams/:team/keys/:key/file") { visit in
            let (team, key) = (try visit.name("team"), try visit.name("key"))
            let bytes = try await service.publicKey(key == "current" ? nil : key, of: team, as: visit.actor)
            return download(bytes, name: "\(team).mlmodelkey", type: "application/json")
        }
        pages.get("teams/:team/keys/:key/revoke") { visit in try await revocationPage(visit) }
        pages.form("teams/:team/keys/:key/revoke") { visit, _ in
            let team = try visit.name("team")
            _ = try await service.revokeKey(visit.name("key"), of: team, as: visit.actor)
            return redirect("/teams/\(team)/keys?done=keyRevoked")
        }
        pages.get("teams/:team/tokens") { visit in try await tokensPage(visit) }
        pages.form("teams/:team/tokens") { visit, form in try await makeToken(visit, form) }
        pages.form("teams/:team/tokens/:token/revoke") { visit, _ in
            let team = try visit.name("team")
            try await service.revokeToken(visit.name("token"), team: team, as: visit.actor)
            return redirect("/teams/\(team)/tokens?done=revoked")
        }
        pages.get("teams/:team/audit") { visit in try await auditPage(visit) }
        pages.get("teams/:team/audit/export.csv") { visit in try await auditExport(visit, isJSON: false) }
        pages.get("teams/:team/audit/export.json") { visit in try await auditExport(visit, isJSON: true) }
    }

    static func text(_ permissions: Set<Permission>) -> String {
        Permission.allCases.filter(permissions.contains).map { permission in
            switch permission {
            case .view: "look"
            case .manageApps: "make apps and collections"
            case .publish: "upload and release"
            case .deploy: "deploy"
            case .approve: "approve"
            case .manageKeys: "manage keys"
            case .audit: "read the audit log"
            case .manageMembers: "members and tokens"
            }
        }.joined(separator: ", ")
    }
}
