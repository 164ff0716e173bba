{{/* What the pods of this chart share. Values that may hold numbers are written as JSON: toYaml would write 1000650000,
     a user id of OpenShift, as 1.00065e+09. */}}

{{/* Kafka as the environment says it. */}}
{{- define "pokdeng.kafkaEnv" -}}
- name: POKDENG_BOOTSTRAP
  value: {{ .Values.kafka.bootstrap | quote }}
- name: POKDENG_PREFIX
  value: {{ .Values.topics.prefix | quote }}
- name: POKDENG_ALLOW_CREATE_TIME
  value: {{ .Values.topics.allowCreateTime | quote }}
- name: POKDENG_CORRECTION_WINDOW
  value: {{ .Values.worker.correctionWindow | quote }}
- name: POKDENG_KAFKA_SECURITY
  value: {{ .Values.kafka.security | quote }}
{{- with .Values.kafka.sasl }}
{{- if .existingSecret }}
- name: POKDENG_KAFKA_SASL
  value: {{ .mechanism | quote }}
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
{{- include "pokdeng.tlsEnv" (dict "name" "KAFKA" "tls" .Values.kafka.tls) }}
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
{{- include "pokdeng.tlsEnv" (dict "name" "REDIS" "tls" .Values.redis.tls) }}
{{- end -}}

{{/* Certificates lie under /etc/pokdeng/kafka and /etc/pokdeng/redis. */}}
{{- define "pokdeng.tlsEnv" -}}
{{- $folder := printf "/etc/pokdeng/%s" (lower .name) -}}
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

{{/* The arguments: the root, and the names of what is reached over TLS. */}}
{{- define "pokdeng.tlsMounts" -}}
{{- range .names }}
{{- if (index $.root.Values .).tls.existingSecret }}
- name: {{ . }}-tls
  mountPath: /etc/pokdeng/{{ . }}
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}

{{- define "pokdeng.tlsVolumes" -}}
{{- range $name := .names }}
{{- with (index $.root.Values $name).tls.existingSecret }}
- name: {{ $name }}-tls
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
