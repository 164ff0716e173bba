{{/* Names, labels, and how a value becomes text. */}}

{{- define "pokdeng.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 44 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 44 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "pokdeng.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "pokdeng.workers" -}}
{{ include "pokdeng.selector" . }}
app.kubernetes.io/component: worker
{{- end -}}

{{- define "pokdeng.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "pokdeng.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "pokdeng.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "pokdeng.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* A value as text. Helm reads numbers as floats and would write 1000000 as 1e+06. */}}
{{- define "pokdeng.text" -}}
{{- if kindIs "float64" . -}}
{{- if ne (floor .) . -}}
{{- fail (printf "%v is no whole number: write it as text, in quotes" .) -}}
{{- end -}}
{{- printf "%.0f" . -}}
{{- else -}}
{{- toString . -}}
{{- end -}}
{{- end -}}

{{/* What must hold between values; the schema cannot say it. */}}
{{- define "pokdeng.check" -}}
{{- $partitions := int64 .Values.topics.partitions -}}
{{- if gt (int64 .Values.replicas) $partitions -}}
{{- fail (printf "replicas is %d: there are %d partitions (topics.partitions), and a worker more would have nothing to do" (int64 .Values.replicas) $partitions) -}}
{{- end -}}
{{- with .Values.autoscaling -}}
{{- if gt (int64 .maxReplicas) $partitions -}}
{{- fail (printf "autoscaling.maxReplicas is %d: there are %d partitions (topics.partitions)" (int64 .maxReplicas) $partitions) -}}
{{- end -}}
{{- if gt (int64 .minReplicas) (int64 .maxReplicas) -}}
{{- fail (printf "autoscaling.minReplicas is %d, above autoscaling.maxReplicas, %d" (int64 .minReplicas) (int64 .maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- if gt (int64 .Values.topics.create.minInsync) (int64 .Values.topics.create.replication) -}}
{{- fail (printf "topics.create.minInsync is %d, above topics.create.replication, %d" (int64 .Values.topics.create.minInsync) (int64 .Values.topics.create.replication)) -}}
{{- end -}}
{{- $isSasl := hasPrefix "SASL" .Values.kafka.security -}}
{{- if and $isSasl (not .Values.kafka.sasl.existingSecret) -}}
{{- fail (printf "kafka.security is %s: kafka.sasl.existingSecret must name a Secret with our name and password" .Values.kafka.security) -}}
{{- end -}}
{{- if and (not $isSasl) .Values.kafka.sasl.existingSecret -}}
{{- fail (printf "kafka.sasl.existingSecret would be ignored: kafka.security is %s" .Values.kafka.security) -}}
{{- end -}}
{{- if and (not (hasSuffix "SSL" .Values.kafka.security)) .Values.kafka.tls.existingSecret -}}
{{- fail (printf "kafka.tls.existingSecret would be ignored: kafka.security is %s" .Values.kafka.security) -}}
{{- end -}}
{{- if and (not $isSasl) .Values.topics.create.sasl.existingSecret -}}
{{- fail (printf "topics.create.sasl.existingSecret would be ignored: kafka.security is %s" .Values.kafka.security) -}}
{{- end -}}
{{- if and (not (hasSuffix "SSL" .Values.kafka.security)) .Values.topics.create.tls.existingSecret -}}
{{- fail (printf "topics.create.tls.existingSecret would be ignored: kafka.security is %s" .Values.kafka.security) -}}
{{- end -}}
{{- if and (not (hasPrefix "rediss://" .Values.redis.url)) .Values.redis.tls.existingSecret -}}
{{- fail "redis.tls.existingSecret would be ignored: redis.url does not begin with rediss://" -}}
{{- end -}}
{{- range $name, $tls := dict "kafka" .Values.kafka.tls "redis" .Values.redis.tls "topics.create" .Values.topics.create.tls -}}
{{- with $tls -}}
{{- if and (or .certificateKey .privateKeyKey) (not .existingSecret) -}}
{{- fail (printf "%s.tls.certificateKey and privateKeyKey would be ignored: %s.tls.existingSecret must name the Secret that they are in" $name $name) -}}
{{- end -}}
{{- if and .privateKeyKey (not .certificateKey) -}}
{{- fail (printf "%s.tls.privateKeyKey needs %s.tls.certificateKey" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := .Values.worker.env -}}
{{- if has $name (list "POKDENG_BOOTSTRAP" "POKDENG_REDIS" "POKDENG_PREFIX" "POKDENG_GROUP" "POKDENG_INSTANCE_ID" "POKDENG_HTTP_HOST" "POKDENG_HTTP_PORT" "POKDENG_LIMITS" "POKDENG_ALLOW_CREATE_TIME" "POKDENG_CORRECTION_WINDOW" "POKDENG_REMEMBER" "POKDENG_SESSION_TIMEOUT" "POKDENG_BUCKETS" "POKDENG_LOG_LEVEL" "POKDENG_KAFKA_SECURITY" "POKDENG_KAFKA_SASL" "POKDENG_KAFKA_USER" "POKDENG_KAFKA_PASSWORD" "POKDENG_KAFKA_CA" "POKDENG_KAFKA_CERTIFICATE" "POKDENG_KAFKA_KEY" "POKDENG_REDIS_USER" "POKDENG_REDIS_PASSWORD" "POKDENG_REDIS_CA" "POKDENG_REDIS_CERTIFICATE" "POKDENG_REDIS_KEY") -}}
{{- fail (printf "worker.env.%s: this has a value of its own in the chart" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
