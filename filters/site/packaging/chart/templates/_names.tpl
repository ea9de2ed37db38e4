{{- define "labels" -}}
app.kubernetes.io/name: tapestry
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "address" -}}
{{ if .Values.host }}https://{{ .Values.host }}{{ else }}http://127.0.0.1:8000{{ end }}
{{- end -}}
