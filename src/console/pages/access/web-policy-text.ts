import { defineText } from '../../text/define-text.ts';

/** Texts of what a policy lets browsers know: HTTPS only, and pages of other origins. */
export const webPolicyText = defineText({
  en: {
    redirect: 'Redirect plain HTTP to HTTPS',
    redirectHelp: 'Visitors who use http:// are sent to the same address with https://.',
    redirects: (value: string) =>
      ({
        auto: 'If the gateway has a certificate for the name',
        always: 'Always',
        never: 'Never',
      })[value] ?? value,
    hsts: 'Require HTTPS in browsers (HSTS)',
    hstsHelp: 'Browsers remember this. Turn it on once HTTPS works for all pages of this share.',
    hstsAge: 'Duration in seconds',
    hstsAgeHelp: 'Browsers use only HTTPS for this time after each visit. 31536000 is one year; 0 ends it.',
    subdomains: 'Include subdomains',
    subdomainsHelp: 'Applies to all names below the name of this share.',
    preload: 'Allow preload lists',
    preloadHelp: 'Browsers may ship with this rule. Removal from their lists takes months.',
    corsOrigins: 'Origins that can read responses',
    corsOriginsHelp:
      'Enter one origin per line, such as https://www.example.com, or * for all. If empty, the service decides.',
    corsMethods: 'Methods',
    corsMethodsHelp: 'Enter one per line. If empty: GET, HEAD, POST, PUT, PATCH and DELETE.',
    corsHeaders: 'Request headers that pages can send',
    corsHeadersHelp: 'Enter one per line, such as Content-Type.',
    corsExposed: 'Response headers that pages can read',
    corsExposedHelp: 'Enter one per line, such as ETag.',
    corsCredentials: 'Allow cookies and sign-ins',
    corsCredentialsHelp:
      'Pages of these origins can then also send state-changing requests as the signed-in person.',
    corsAge: 'Preflight cache time in seconds',
    corsAgeHelp: 'If empty, 600.',
  },
  de: {
    redirect: 'HTTP auf HTTPS umleiten',
    redirectHelp: 'Wer http:// verwendet, wird auf dieselbe Adresse mit https:// geleitet.',
    redirects: (value: string) =>
      ({
        auto: 'Wenn das Gateway ein Zertifikat für den Namen hat',
        always: 'Immer',
        never: 'Nie',
      })[value] ?? value,
    hsts: 'Browser nur HTTPS verwenden lassen (HSTS)',
    hstsHelp: 'Browser merken sich das. Schalten Sie es ein, wenn HTTPS für alle Seiten funktioniert.',
    hstsAge: 'Dauer in Sekunden',
    hstsAgeHelp:
      'So lange nach jedem Besuch verwenden Browser nur HTTPS. 31536000 ist ein Jahr; 0 beendet es.',
    subdomains: 'Auch für Subdomains',
    subdomainsHelp: 'Gilt für alle Namen unter dem Namen dieser Freigabe.',
    preload: 'Preload-Listen erlauben',
    preloadHelp: 'Browser dürfen diese Regel mitbringen. Die Streichung aus ihren Listen dauert Monate.',
    corsOrigins: 'Ursprünge, die Antworten lesen dürfen',
    corsOriginsHelp:
      'Je Zeile einer, zum Beispiel https://www.example.com, oder * für alle. Leer: Der Dienst entscheidet.',
    corsMethods: 'Methoden',
    corsMethodsHelp: 'Je Zeile eine. Leer: GET, HEAD, POST, PUT, PATCH und DELETE.',
    corsHeaders: 'Header, die Seiten senden dürfen',
    corsHeadersHelp: 'Je Zeile einer, zum Beispiel Content-Type.',
    corsExposed: 'Header, die Seiten lesen dürfen',
    corsExposedHelp: 'Je Zeile einer, zum Beispiel ETag.',
    corsCredentials: 'Cookies und Anmeldungen erlauben',
    corsCredentialsHelp: 'Seiten dieser Ursprünge dürfen dann auch im Namen Angemeldeter Änderungen senden.',
    corsAge: 'Dauer der Preflight-Antwort in Sekunden',
    corsAgeHelp: 'Leer: 600.',
  },
});
