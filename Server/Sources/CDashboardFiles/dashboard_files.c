/* Written by scripts/generate/dashboard-files. */
#include "dashboard_files.h"

/* #embed is C23, and the oldest compiler that builds this package has it. */
#pragma clang diagnostic ignored "-Wc23-extensions"

#define TEXT "; charset=utf-8"

static const unsigned char files_dashboard_css[] = {
#embed "files/dashboard.css"
};
static const unsigned char files_dashboard_js[] = {
#embed "files/dashboard.js"
};
static const unsigned char files_icon_svg[] = {
#embed "files/icon.svg"
};
static const unsigned char pages_account_mustache[] = {
#embed "pages/account.mustache"
};
static const unsigned char pages_adoption_mustache[] = {
#embed "pages/adoption.mustache"
};
static const unsigned char pages_app_mustache[] = {
#embed "pages/app.mustache"
};
static const unsigned char pages_archive_card_mustache[] = {
#embed "pages/archive-card.mustache"
};
static const unsigned char pages_archive_facts_mustache[] = {
#embed "pages/archive-facts.mustache"
};
static const unsigned char pages_archive_mustache[] = {
#embed "pages/archive.mustache"
};
static const unsigned char pages_archives_mustache[] = {
#embed "pages/archives.mustache"
};
static const unsigned char pages_audit_mustache[] = {
#embed "pages/audit.mustache"
};
static const unsigned char pages_changes_mustache[] = {
#embed "pages/changes.mustache"
};
static const unsigned char pages_chip_mustache[] = {
#embed "pages/chip.mustache"
};
static const unsigned char pages_collection_mustache[] = {
#embed "pages/collection.mustache"
};
static const unsigned char pages_commands_api_mustache[] = {
#embed "pages/commands-api.mustache"
};
static const unsigned char pages_commands_mustache[] = {
#embed "pages/commands.mustache"
};
static const unsigned char pages_compare_mustache[] = {
#embed "pages/compare.mustache"
};
static const unsigned char pages_confirm_mustache[] = {
#embed "pages/confirm.mustache"
};
static const unsigned char pages_deployment_new_mustache[] = {
#embed "pages/deployment-new.mustache"
};
static const unsigned char pages_deployment_mustache[] = {
#embed "pages/deployment.mustache"
};
static const unsigned char pages_device_input_mustache[] = {
#embed "pages/device-input.mustache"
};
static const unsigned char pages_device_mustache[] = {
#embed "pages/device.mustache"
};
static const unsigned char pages_drop_mustache[] = {
#embed "pages/drop.mustache"
};
static const unsigned char pages_error_mustache[] = {
#embed "pages/error.mustache"
};
static const unsigned char pages_features_mustache[] = {
#embed "pages/features.mustache"
};
static const unsigned char pages_field_mustache[] = {
#embed "pages/field.mustache"
};
static const unsigned char pages_form_body_mustache[] = {
#embed "pages/form-body.mustache"
};
static const unsigned char pages_form_mustache[] = {
#embed "pages/form.mustache"
};
static const unsigned char pages_history_mustache[] = {
#embed "pages/history.mustache"
};
static const unsigned char pages_icon_apps_mustache[] = {
#embed "pages/icon-apps.mustache"
};
static const unsigned char pages_icon_archives_mustache[] = {
#embed "pages/icon-archives.mustache"
};
static const unsigned char pages_icon_audit_mustache[] = {
#embed "pages/icon-audit.mustache"
};
static const unsigned char pages_icon_box_mustache[] = {
#embed "pages/icon-box.mustache"
};
static const unsigned char pages_icon_check_mustache[] = {
#embed "pages/icon-check.mustache"
};
static const unsigned char pages_icon_copy_mustache[] = {
#embed "pages/icon-copy.mustache"
};
static const unsigned char pages_icon_down_mustache[] = {
#embed "pages/icon-down.mustache"
};
static const unsigned char pages_icon_keys_mustache[] = {
#embed "pages/icon-keys.mustache"
};
static const unsigned char pages_icon_lock_mustache[] = {
#embed "pages/icon-lock.mustache"
};
static const unsigned char pages_icon_members_mustache[] = {
#embed "pages/icon-members.mustache"
};
static const unsigned char pages_icon_next_mustache[] = {
#embed "pages/icon-next.mustache"
};
static const unsigned char pages_icon_plus_mustache[] = {
#embed "pages/icon-plus.mustache"
};
static const unsigned char pages_icon_shell_mustache[] = {
#embed "pages/icon-shell.mustache"
};
static const unsigned char pages_icon_tokens_mustache[] = {
#embed "pages/icon-tokens.mustache"
};
static const unsigned char pages_icon_upload_mustache[] = {
#embed "pages/icon-upload.mustache"
};
static const unsigned char pages_icon_user_mustache[] = {
#embed "pages/icon-user.mustache"
};
static const unsigned char pages_icon_webhooks_mustache[] = {
#embed "pages/icon-webhooks.mustache"
};
static const unsigned char pages_keys_mustache[] = {
#embed "pages/keys.mustache"
};
static const unsigned char pages_layout_mustache[] = {
#embed "pages/layout.mustache"
};
static const unsigned char pages_member_mustache[] = {
#embed "pages/member.mustache"
};
static const unsigned char pages_members_mustache[] = {
#embed "pages/members.mustache"
};
static const unsigned char pages_moment_mustache[] = {
#embed "pages/moment.mustache"
};
static const unsigned char pages_no_reports_mustache[] = {
#embed "pages/no-reports.mustache"
};
static const unsigned char pages_preview_mustache[] = {
#embed "pages/preview.mustache"
};
static const unsigned char pages_release_new_mustache[] = {
#embed "pages/release-new.mustache"
};
static const unsigned char pages_release_mustache[] = {
#embed "pages/release.mustache"
};
static const unsigned char pages_revoke_key_mustache[] = {
#embed "pages/revoke-key.mustache"
};
static const unsigned char pages_rules_mustache[] = {
#embed "pages/rules.mustache"
};
static const unsigned char pages_sign_in_link_mustache[] = {
#embed "pages/sign-in-link.mustache"
};
static const unsigned char pages_sign_in_mustache[] = {
#embed "pages/sign-in.mustache"
};
static const unsigned char pages_signed_in_mustache[] = {
#embed "pages/signed-in.mustache"
};
static const unsigned char pages_steps_mustache[] = {
#embed "pages/steps.mustache"
};
static const unsigned char pages_team_mustache[] = {
#embed "pages/team.mustache"
};
static const unsigned char pages_teams_mustache[] = {
#embed "pages/teams.mustache"
};
static const unsigned char pages_tokens_mustache[] = {
#embed "pages/tokens.mustache"
};
static const unsigned char pages_trail_mustache[] = {
#embed "pages/trail.mustache"
};
static const unsigned char pages_webhooks_mustache[] = {
#embed "pages/webhooks.mustache"
};

static const struct dashboard_file files[] = {
    {"dashboard.css", "text/css" TEXT, files_dashboard_css, sizeof files_dashboard_css},
    {"dashboard.js", "text/javascript" TEXT, files_dashboard_js, sizeof files_dashboard_js},
    {"icon.svg", "image/svg+xml", files_icon_svg, sizeof files_icon_svg},
    {"account", 0, pages_account_mustache, sizeof pages_account_mustache},
    {"adoption", 0, pages_adoption_mustache, sizeof pages_adoption_mustache},
    {"app", 0, pages_app_mustache, sizeof pages_app_mustache},
    {"archive-card", 0, pages_archive_card_mustache, sizeof pages_archive_card_mustache},
    {"archive-facts", 0, pages_archive_facts_mustache, sizeof pages_archive_facts_mustache},
    {"archive", 0, pages_archive_mustache, sizeof pages_archive_mustache},
    {"archives", 0, pages_archives_mustache, sizeof pages_archives_mustache},
    {"audit", 0, pages_audit_mustache, sizeof pages_audit_mustache},
    {"changes", 0, pages_changes_mustache, sizeof pages_changes_mustache},
    {"chip", 0, pages_chip_mustache, sizeof pages_chip_mustache},
    {"collection", 0, pages_collection_mustache, sizeof pages_collection_mustache},
    {"commands-api", 0, pages_commands_api_mustache, sizeof pages_commands_api_mustache},
    {"commands", 0, pages_commands_mustache, sizeof pages_commands_mustache},
    {"compare", 0, pages_compare_mustache, sizeof pages_compare_mustache},
    {"confirm", 0, pages_confirm_mustache, sizeof pages_confirm_mustache},
    {"deployment-new", 0, pages_deployment_new_mustache, sizeof pages_deployment_new_mustache},
    {"deployment", 0, pages_deployment_mustache, sizeof pages_deployment_mustache},
    {"device-input", 0, pages_device_input_mustache, sizeof pages_device_input_mustache},
    {"device", 0, pages_device_mustache, sizeof pages_device_mustache},
    {"drop", 0, pages_drop_mustache, sizeof pages_drop_mustache},
    {"error", 0, pages_error_mustache, sizeof pages_error_mustache},
    {"features", 0, pages_features_mustache, sizeof pages_features_mustache},
    {"field", 0, pages_field_mustache, sizeof pages_field_mustache},
    {"form-body", 0, pages_form_body_mustache, sizeof pages_form_body_mustache},
    {"form", 0, pages_form_mustache, sizeof pages_form_mustache},
    {"history", 0, pages_history_mustache, sizeof pages_history_mustache},
    {"icon-apps", 0, pages_icon_apps_mustache, sizeof pages_icon_apps_mustache},
    {"icon-archives", 0, pages_icon_archives_mustache, sizeof pages_icon_archives_mustache},
    {"icon-audit", 0, pages_icon_audit_mustache, sizeof pages_icon_audit_mustache},
    {"icon-box", 0, pages_icon_box_mustache, sizeof pages_icon_box_mustache},
    {"icon-check", 0, pages_icon_check_mustache, sizeof pages_icon_check_mustache},
    {"icon-copy", 0, pages_icon_copy_mustache, sizeof pages_icon_copy_mustache},
    {"icon-down", 0, pages_icon_down_mustache, sizeof pages_icon_down_mustache},
    {"icon-keys", 0, pages_icon_keys_mustache, sizeof pages_icon_keys_mustache},
    {"icon-lock", 0, pages_icon_lock_mustache, sizeof pages_icon_lock_mustache},
    {"icon-members", 0, pages_icon_members_mustache, sizeof pages_icon_members_mustache},
    {"icon-next", 0, pages_icon_next_mustache, sizeof pages_icon_next_mustache},
    {"icon-plus", 0, pages_icon_plus_mustache, sizeof pages_icon_plus_mustache},
    {"icon-shell", 0, pages_icon_shell_mustache, sizeof pages_icon_shell_mustache},
    {"icon-tokens", 0, pages_icon_tokens_mustache, sizeof pages_icon_tokens_mustache},
    {"icon-upload", 0, pages_icon_upload_mustache, sizeof pages_icon_upload_mustache},
    {"icon-user", 0, pages_icon_user_mustache, sizeof pages_icon_user_mustache},
    {"icon-webhooks", 0, pages_icon_webhooks_mustache, sizeof pages_icon_webhooks_mustache},
    {"keys", 0, pages_keys_mustache, sizeof pages_keys_mustache},
    {"layout", 0, pages_layout_mustache, sizeof pages_layout_mustache},
    {"member", 0, pages_member_mustache, sizeof pages_member_mustache},
    {"members", 0, pages_members_mustache, sizeof pages_members_mustache},
    {"moment", 0, pages_moment_mustache, sizeof pages_moment_mustache},
    {"no-reports", 0, pages_no_reports_mustache, sizeof pages_no_reports_mustache},
    {"preview", 0, pages_preview_mustache, sizeof pages_preview_mustache},
    {"release-new", 0, pages_release_new_mustache, sizeof pages_release_new_mustache},
    {"release", 0, pages_release_mustache, sizeof pages_release_mustache},
    {"revoke-key", 0, pages_revoke_key_mustache, sizeof pages_revoke_key_mustache},
    {"rules", 0, pages_rules_mustache, sizeof pages_rules_mustache},
    {"sign-in-link", 0, pages_sign_in_link_mustache, sizeof pages_sign_in_link_mustache},
    {"sign-in", 0, pages_sign_in_mustache, sizeof pages_sign_in_mustache},
    {"signed-in", 0, pages_signed_in_mustache, sizeof pages_signed_in_mustache},
    {"steps", 0, pages_steps_mustache, sizeof pages_steps_mustache},
    {"team", 0, pages_team_mustache, sizeof pages_team_mustache},
    {"teams", 0, pages_teams_mustache, sizeof pages_teams_mustache},
    {"tokens", 0, pages_tokens_mustache, sizeof pages_tokens_mustache},
    {"trail", 0, pages_trail_mustache, sizeof pages_trail_mustache},
    {"webhooks", 0, pages_webhooks_mustache, sizeof pages_webhooks_mustache},
};

const struct dashboard_file *dashboard_file(unsigned long index) {
    return index < sizeof files / sizeof files[0] ? &files[index] : 0;
}
