{{- define "frontdoor.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Takes (dict "root" $ "part" "control"), as the next two. */}}
{{- define "frontdoor.name" -}}
{{ include "frontdoor.fullname" .root }}-{{ .part }}
{{- end -}}

{{- define "frontdoor.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "frontdoor.metadata" -}}
name: {{ include "frontdoor.name" . }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "frontdoor.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- end -}}

{{- define "frontdoor.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "frontdoor.controlHost" -}}
{{ include "frontdoor.fullname" . }}-control.{{ .Release.Namespace }}.svc
{{- end -}}

{{- define "frontdoor.apiUrl" -}}
https://{{ include "frontdoor.controlHost" . }}:8081
{{- end -}}

{{/* What every pod has. Without service links, Kubernetes adds no variables that begin with FRONTDOOR_. Takes root, part and values. */}}
{{- define "frontdoor.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  # Secrets become readable for this group. OnRootMismatch: later starts do not open the files of identities to it.
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .values.affinity }}
affinity:
  {{- toYaml .values.affinity | nindent 2 }}
{{- else }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "frontdoor.selector" . | nindent 14 }}
{{- end }}
{{- end -}}

{{- define "frontdoor.container" -}}
image: {{ include "frontdoor.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
workingDir: /var/lib/frontdoor
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
resources:
  {{- toYaml .values.resources | nindent 2 }}
{{- end -}}

{{/* Takes the path of readiness. */}}
{{- define "frontdoor.probes" -}}
startupProbe:
  httpGet:
    path: /health/live
    port: metrics
  periodSeconds: 2
  failureThreshold: 90
livenessProbe:
  httpGet:
    path: /health/live
    port: metrics
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: {{ . }}
    port: metrics
  periodSeconds: 5
  timeoutSeconds: 3
{{- end -}}

{{/* Creates the router or gateway at the control plane unless it has enrolled; only this container has the credentials. Takes root, values and args. */}}
{{- define "frontdoor.enrollment" -}}
- name: enroll
  {{- include "frontdoor.container" . | nindent 2 }}
  args:
    {{- toYaml .args | nindent 4 }}
  env:
    - name: POD_NAME
      valueFrom:
        fieldRef:
          fieldPath: metadata.name
    - name: FRONTDOOR_API_URL
      value: {{ .root.Values.enrollment.apiUrl | default (include "frontdoor.apiUrl" .root) }}
    {{- if .root.Values.enrollment.authoritySecret }}
    - name: FRONTDOOR_CA_FILE
      value: /run/secrets/authority/ca.crt
    {{- end }}
    - name: FRONTDOOR_ACCOUNT_ID
      valueFrom:
        secretKeyRef:
          name: {{ .root.Values.enrollment.credentialsSecret }}
          key: accountId
    - name: FRONTDOOR_API_TOKEN
      valueFrom:
        secretKeyRef:
          name: {{ .root.Values.enrollment.credentialsSecret }}
          key: apiToken
  volumeMounts:
    - name: state
      mountPath: /var/lib/frontdoor
    - name: tmp
      mountPath: /tmp
    {{- if .root.Values.enrollment.authoritySecret }}
    - name: authority
      mountPath: /run/secrets/authority
      readOnly: true
    {{- end }}
{{- end -}}

{{/* Takes the name of the Secret. */}}
{{- define "frontdoor.authorityVolume" -}}
- name: authority
  secret:
    secretName: {{ . }}
    items:
      - key: ca.crt
        path: ca.crt
{{- end -}}

{{- define "frontdoor.tmpVolume" -}}
- name: tmp
  emptyDir:
    sizeLimit: 16Mi
{{- end -}}

{{- define "frontdoor.claimSpec" -}}
accessModes: [ReadWriteOnce]
{{- with .className }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .size }}
{{- end -}}

{{/* For scraping, and for the names of pods. Takes root and part. */}}
{{- define "frontdoor.podsService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "frontdoor.name" . }}-pods
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "frontdoor.selector" . | nindent 4 }}
    app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
    frontdoor.dev/scrape: 'true'
spec:
  clusterIP: None
  # Also of pods that are not ready: they have metrics, and a router is found by its name before it is connected.
  publishNotReadyAddresses: true
  selector:
    {{- include "frontdoor.selector" . | nindent 4 }}
  ports:
    - name: metrics
      port: 9100
      targetPort: metrics
{{- end -}}

{{/* The name of each pod in the cluster. Takes root and part. */}}
{{- define "frontdoor.podHost" -}}
$(POD_NAME).{{ include "frontdoor.name" . }}-pods.{{ .root.Release.Namespace }}.svc
{{- end -}}

{{/* A Service for each pod, for agents outside of the cluster. Takes root, part, values and ports. */}}
{{- define "frontdoor.podServices" -}}
{{- $name := include "frontdoor.name" . -}}
{{- $each := . -}}
{{- if .values.podServices.enabled }}
{{- range $number := until (int .values.replicas) }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}-{{ $number }}
  namespace: {{ $each.root.Release.Namespace }}
  labels:
    {{- include "frontdoor.selector" $each | nindent 4 }}
  {{- with $each.values.podServices.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $each.values.podServices.type }}
  externalTrafficPolicy: Local
  selector:
    {{- include "frontdoor.selector" $each | nindent 4 }}
    statefulset.kubernetes.io/pod-name: {{ $name }}-{{ $number }}
  ports:
    {{- range $each.ports }}
    - { name: {{ .name }}, port: {{ .port }}, targetPort: {{ .name }} }
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Takes root, part and replicas. */}}
{{- define "frontdoor.disruptionBudget" -}}
{{- if gt (int .replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "frontdoor.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "frontdoor.selector" . | nindent 6 }}
{{- end }}
{{- end -}}
