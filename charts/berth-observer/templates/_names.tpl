{{- define "berth-observer.name" -}}
{{- printf "%s-berth-observer" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "berth-observer.account" -}}
{{- default (include "berth-observer.name" .) .Values.serviceAccountName -}}
{{- end -}}

{{- define "berth-observer.labels" -}}
app.kubernetes.io/name: berth-observer
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "berth-observer.selector" -}}
app.kubernetes.io/name: berth-observer
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "berth-observer.config" -}}
version: 1
{{- with .Values.config }}
{{ toYaml . }}
{{- end }}
{{- with .Values.namespaces }}
watch:
  namespaces: {{ toJson . }}
{{- end }}
spool: {dir: /spool}
{{- with .Values.push.url }}
push:
  url: {{ . | quote }}
  {{- if $.Values.push.tokenSecret }}
  token_file: /token/token
  {{- end }}
{{- end }}
metrics: {listen: {{ printf ":%v" .Values.metrics.port | quote }}, workloads: {{ .Values.metrics.workloads }}}
{{- end -}}
