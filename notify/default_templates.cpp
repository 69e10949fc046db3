// The well-known template names, giving the texts that Alertmanager's own give; laid out our way.
#include "notify/renderer.h"

namespace vagt::notify {

std::string_view default_text_templates() {
  static constexpr std::string_view kText = R"TEXT(
{{- define "__alertmanager" }}Alertmanager{{ end }}
{{- define "__alertmanagerURL" }}{{ .ExternalURL }}/#/alerts?receiver={{ .Receiver | urlquery }}{{ end }}
{{- define "__description" }}{{ end }}

{{- define "__subject" -}}
  [{{ .Status | toUpper }}{{ if eq .Status "firing" }}:{{ len .Alerts.Firing }}{{ end }}] {{ .GroupLabels.SortedPairs.Values | join " " }} {{ if gt (len .CommonLabels) (len .GroupLabels) }}({{ (.CommonLabels.Remove .GroupLabels.Names).Values | join " " }}){{ end }}
{{- end }}

{{- define "__text_alert_list" }}{{ range . -}}
Labels:
{{ range .Labels.SortedPairs }} - {{ .Name }} = {{ .Value }}
{{ end -}}
Annotations:
{{ range .Annotations.SortedPairs }} - {{ .Name }} = {{ .Value }}
{{ end -}}
Source: {{ .GeneratorURL }}
{{ end }}{{ end }}

{{- define "__text_alert_list_markdown" }}{{ range . }}
Labels:
{{ range .Labels.SortedPairs }}  - {{ .Name }} = {{ .Value }}
{{ end }}
Annotations:
{{ range .Annotations.SortedPairs }}  - {{ .Name }} = {{ .Value }}
{{ end }}
Source: {{ .GeneratorURL }}
{{ end }}{{ end }}

{{- define "__annotation_values" }}{{ .CommonAnnotations.SortedPairs.Values | join " " }}{{ end }}

{{- define "__spaced_lists" }}
{{ with .Alerts.Firing }}
Alerts Firing:
{{ template "__text_alert_list" . }}
{{ end }}
{{ with .Alerts.Resolved }}
Alerts Resolved:
{{ template "__text_alert_list" . }}
{{ end }}
{{ end }}

{{- define "__spaced_lists_markdown" }}
{{ with .Alerts.Firing }}
# Alerts Firing:
{{ template "__text_alert_list_markdown" . }}
{{ end }}
{{ with .Alerts.Resolved }}
# Alerts Resolved:
{{ template "__text_alert_list_markdown" . }}
{{ end }}
{{ end }}

{{- define "__dense_lists" }}{{ template "__annotation_values" . }}
{{ with .Alerts.Firing }}Alerts Firing:
{{ template "__text_alert_list" . }}{{ end }}
{{ with .Alerts.Resolved }}Alerts Resolved:
{{ template "__text_alert_list" . }}{{ end }}{{ end }}

{{- define "slack.default.title" }}{{ template "__subject" . }}{{ end }}
{{- define "slack.default.username" }}{{ template "__alertmanager" . }}{{ end }}
{{- define "slack.default.fallback" }}{{ template "__subject" . }} | {{ template "__alertmanagerURL" . }}{{ end }}
{{- define "slack.default.callbackid" }}{{ end }}
{{- define "slack.default.pretext" }}{{ end }}
{{- define "slack.default.titlelink" }}{{ template "__alertmanagerURL" . }}{{ end }}
{{- define "slack.default.iconemoji" }}{{ end }}
{{- define "slack.default.iconurl" }}{{ end }}
{{- define "slack.default.text" }}{{ end }}
{{- define "slack.default.footer" }}{{ end }}
{{- define "slack.default.color" }}{{ if eq .Status "firing" }}danger{{ else }}good{{ end }}{{ end }}

{{- define "pagerduty.default.description" }}{{ template "__subject" . }}{{ end }}
{{- define "pagerduty.default.client" }}{{ template "__alertmanager" . }}{{ end }}
{{- define "pagerduty.default.clientURL" }}{{ template "__alertmanagerURL" . }}{{ end }}
{{- define "pagerduty.default.instances" }}{{ template "__text_alert_list" . }}{{ end }}

{{- define "opsgenie.default.message" }}{{ template "__subject" . }}{{ end }}
{{- define "opsgenie.default.description" }}{{ template "__dense_lists" . }}{{ end }}
{{- define "opsgenie.default.source" }}{{ template "__alertmanagerURL" . }}{{ end }}

{{- define "wechat.default.message" }}{{ template "__subject" . }}
{{ template "__dense_lists" . }}
AlertmanagerUrl:
{{ template "__alertmanagerURL" . }}{{ end }}
{{- define "wechat.default.to_user" }}{{ end }}
{{- define "wechat.default.to_party" }}{{ end }}
{{- define "wechat.default.to_tag" }}{{ end }}
{{- define "wechat.default.agent_id" }}{{ end }}

{{- define "victorops.default.state_message" }}{{ template "__dense_lists" . }}{{ end }}
{{- define "victorops.default.entity_display_name" }}{{ template "__subject" . }}{{ end }}
{{- define "victorops.default.monitoring_tool" }}{{ template "__alertmanager" . }}{{ end }}

{{- define "pushover.default.title" }}{{ template "__subject" . }}{{ end }}
{{- define "pushover.default.message" }}{{ template "__annotation_values" . }}{{ template "__spaced_lists" . }}{{ end }}
{{- define "pushover.default.url" }}{{ template "__alertmanagerURL" . }}{{ end }}

{{- define "sns.default.subject" }}{{ template "__subject" . }}{{ end }}
{{- define "sns.default.message" }}{{ template "__annotation_values" . }}{{ template "__spaced_lists" . }}{{ end }}

{{- define "telegram.default.message" }}{{ template "__spaced_lists" . }}{{ end }}

{{- define "discord.default.content" }}{{ end }}
{{- define "discord.default.title" }}{{ template "__subject" . }}{{ end }}
{{- define "discord.default.message" }}{{ template "__spaced_lists" . }}{{ end }}

{{- define "webex.default.message" }}{{ template "__annotation_values" . }}{{ template "__spaced_lists" . }}{{ end }}

{{- define "msteams.default.summary" }}{{ template "__subject" . }}{{ end }}
{{- define "msteams.default.title" }}{{ template "__subject" . }}{{ end }}
{{- define "msteams.default.text" }}{{ template "__spaced_lists_markdown" . }}{{ end }}
{{- define "msteamsv2.default.title" }}{{ template "__subject" . }}{{ end }}
{{- define "msteamsv2.default.text" }}{{ template "__spaced_lists_markdown" . }}{{ end }}

{{- define "jira.default.summary" }}{{ template "__subject" . }}{{ end }}
{{- define "jira.default.description" }}{{ template "__spaced_lists_markdown" . }}{{ end }}
{{- define "jira.default.priority" -}}
  {{- $critical := false }}{{ $warning := false }}{{ $info := false }}
  {{- range .Alerts.Firing }}
    {{- if eq .Labels.severity "critical" }}{{ $critical = true }}{{ end }}
    {{- if eq .Labels.severity "warning" }}{{ $warning = true }}{{ end }}
    {{- if eq .Labels.severity "info" }}{{ $info = true }}{{ end }}
  {{- end }}
  {{- if $critical }}High{{ else if $warning }}Medium{{ else if $info }}Low{{ end -}}
{{- end }}

{{- define "rocketchat.default.title" }}{{ template "__subject" . }}{{ end }}
{{- define "rocketchat.default.alias" }}{{ template "__alertmanager" . }}{{ end }}
{{- define "rocketchat.default.titlelink" }}{{ template "__alertmanagerURL" . }}{{ end }}
{{- define "rocketchat.default.emoji" }}{{ end }}
{{- define "rocketchat.default.iconurl" }}{{ end }}
{{- define "rocketchat.default.text" }}{{ end }}

{{- define "mattermost.default.username" }}{{ template "__alertmanager" . }}{{ end }}
{{- define "mattermost.default.color" }}{{ if eq .Status "firing" }}danger{{ else }}good{{ end }}{{ end }}
{{- define "mattermost.default.title" }}{{ template "__subject" . }}{{ end }}
{{- define "mattermost.default.titlelink" }}{{ template "__alertmanagerURL" . }}{{ end }}
{{- define "mattermost.default.fallback" }}{{ template "__subject" . }} | {{ template "__alertmanagerURL" . }}{{ end }}
{{- define "mattermost.default.text" }}{{ end }}

{{- define "email.default.subject" }}{{ template "__subject" . }}{{ end }}

{{- define "ntfy.default.title" }}{{ template "__subject" . }}{{ end }}
{{- define "ntfy.default.message" }}{{ template "__dense_lists" . }}{{ end }}
{{- define "matrix.default.text" }}{{ template "__subject" . }}
{{ template "__dense_lists" . }}{{ end }}
{{- define "stdout.default.text" }}{{ template "__subject" . }}
{{ range .Alerts }}  {{ .Status }}  {{ .Labels }}
{{ range .Annotations.SortedPairs }}    {{ .Name }}: {{ .Value }}
{{ end }}{{ end }}{{ end }}
)TEXT";
  return kText;
}

std::string_view default_html_template() {
  static constexpr std::string_view kHtml = R"HTML(
{{- define "__email_alerts" }}{{ range . }}
<table role="presentation" width="100%" style="border-collapse:collapse;margin:0 0 16px">
<tr><td style="padding:4px 0"><b>Labels</b><br>
{{ range .Labels.SortedPairs }}{{ .Name }} = {{ .Value }}<br>
{{ end }}</td></tr>
{{ if .Annotations }}<tr><td style="padding:4px 0"><b>Annotations</b><br>
{{ range .Annotations.SortedPairs }}{{ .Name }} = {{ .Value }}<br>
{{ end }}</td></tr>
{{ end }}<tr><td style="padding:4px 0"><a href="{{ .GeneratorURL }}">Source</a></td></tr>
</table>
{{ end }}{{ end }}
{{- define "email.default.html" -}}
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{ template "__subject" . }}</title>
</head>
<body style="margin:0;padding:16px;font:15px/1.45 sans-serif">
<div style="max-width:640px;margin:0 auto">
<div style="padding:12px 16px;color:#fff;background:{{ if gt (len .Alerts.Firing) 0 }}#b3261e{{ else }}#2e7d32{{ end }}">
{{ len .Alerts }} alert{{ if gt (len .Alerts) 1 }}s{{ end }} for {{ range .GroupLabels.SortedPairs }}{{ .Name }}={{ .Value }}
{{ end }}</div>
<div style="padding:16px">
<p><a href="{{ template "__alertmanagerURL" . }}" style="font-weight:bold">View in {{ template "__alertmanager" . }}</a></p>
{{ with .Alerts.Firing }}<h2 style="font-size:17px">[{{ len . }}] Firing</h2>
{{ template "__email_alerts" . }}{{ end }}
{{ with .Alerts.Resolved }}<h2 style="font-size:17px">[{{ len . }}] Resolved</h2>
{{ template "__email_alerts" . }}{{ end }}
<p style="color:#757575;font-size:12px"><a href="{{ .ExternalURL }}">Sent by {{ template "__alertmanager" . }}</a></p>
</div>
</div>
</body>
</html>
{{ end }})HTML";
  return kHtml;
}

}  // namespace vagt::notify
