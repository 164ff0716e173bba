{{/* What the pods of this chart share. Values that may hold numbers are written as JSON: toYaml would write 1000650000,
     a user id of OpenShift, as 1.00065e+09. */}}

{{/* Kafka as the environment says it, as the workers' principal. */}}
{{- define "pokdeng.kafkaEnv" -}}
{{- include "pokdeng.kafkaAs" (dict "root" . "sasl" .Values.kafka.sasl "tls" .Values.kafka.tls "folder" "kafka") -}}
{{- end -}}

{{/* The arguments: the root, the Secrets of the principal, and the folder that its certificates lie in. */}}
{{- define "pokdeng.kafkaAs" -}}
- name: POKDENG_BOOTSTRAP
  value: {{ .root.Values.kafka.bootstrap | quote }}
- name: POKDENG_PREFIX
  value: {{ .root.Values.topics.prefix | quote }}
- name: POKDENG_KAFKA_SECURITY
  value: {{ .root.Values.kafka.security | quote }}
{{- $mechanism := .root.Values.kafka.sasl.mechanism }}
{{- with .sasl }}
{{- if .existingSecret }}
- name: POKDENG_KAFKA_SASL
  value: {{ $mechanism | quote }}
- name: POKDENG_KAFKA_USER
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .userKey }}
- name: POKDENG_KAFKA_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .passwordKey }}
{{- end }}
{{- end }}
{{- include "pokdeng.tlsEnv" (dict "name" "KAFKA" "tls" .tls "folder" .folder) }}
{{- end -}}

{{- define "pokdeng.redisEnv" -}}
- name: POKDENG_REDIS
  value: {{ .Values.redis.url | quote }}
{{- with .Values.redis.auth }}
{{- if .existingSecret }}
{{- if .userKey }}
- name: POKDENG_REDIS_USER
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .userKey }}
{{- end }}
- name: POKDENG_REDIS_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .passwordKey }}
{{- end }}
{{- end }}
{{- include "pokdeng.tlsEnv" (dict "name" "REDIS" "tls" .Values.redis.tls "folder" "redis") }}
{{- end -}}

{{/* Certificates lie under /etc/pokdeng/kafka, /etc/pokdeng/redis and /etc/pokdeng/create. */}}
{{- define "pokdeng.tlsEnv" -}}
{{- $folder := printf "/etc/pokdeng/%s" .folder -}}
{{- $name := .name -}}
{{- with .tls }}
{{- if .existingSecret }}
{{- if .caKey }}
- name: POKDENG_{{ $name }}_CA
  value: {{ printf "%s/%s" $folder .caKey | quote }}
{{- end }}
{{- if .certificateKey }}
- name: POKDENG_{{ $name }}_CERTIFICATE
  value: {{ printf "%s/%s" $folder .certificateKey | quote }}
{{- end }}
{{- if .privateKeyKey }}
- name: POKDENG_{{ $name }}_KEY
  value: {{ printf "%s/%s" $folder .privateKeyKey | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The argument: what is reached over TLS, by the folder that its certificates lie in. */}}
{{- define "pokdeng.tlsMounts" -}}
{{- range $folder, $tls := . }}
{{- if $tls.existingSecret }}
- name: {{ $folder }}-tls
  mountPath: /etc/pokdeng/{{ $folder }}
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}

{{- define "pokdeng.tlsVolumes" -}}
{{- range $folder, $tls := . }}
{{- with $tls.existingSecret }}
- name: {{ $folder }}-tls
  secret:
    secretName: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "pokdeng.podBasics" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{ toJson .Values.podSecurityContext }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end -}}

{{- define "pokdeng.containerBasics" -}}
image: {{ include "pokdeng.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{ toJson .Values.securityContext }}
{{- end -}}
