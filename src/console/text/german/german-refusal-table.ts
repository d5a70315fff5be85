/**
 * Refusals of the Management API in German, by the word of `error`. The sentence of the API stands behind it, because only that names the
 * value, the scope or the object.
 */
export const GERMAN_REFUSALS: Readonly<Record<string, string>> = {
  invalid_request: 'Eine Angabe fehlt, ist unbekannt oder hat eine falsche Form.',
  unauthorized: 'Die Anmeldung fehlt, ist abgelaufen oder ungültig.',
  insufficient_scope: 'Dafür fehlt Ihnen eine Berechtigung.',
  not_found: 'Das gibt es nicht oder nicht mehr.',
  method_not_allowed: 'Diese Adresse unterstützt die Methode nicht.',
  conflict: 'Das ist im jetzigen Zustand nicht möglich.',
  precondition_failed: 'Jemand anderes hat das inzwischen geändert. Ihre Änderung wurde nicht gespeichert.',
  too_large: 'Die Eingabe ist zu groß.',
  unsupported_media_type: 'Der Inhalt hat einen Typ oder eine Zeichenkodierung, die nicht unterstützt wird.',
  rate_limited: 'Es kamen zu viele Anfragen. Warten Sie einen Moment.',
  headers_too_large: 'Die Header der Anfrage sind zu groß.',
  timeout: 'Die Anfrage oder die Antwort eines Dienstes kam nicht rechtzeitig an. Versuchen Sie es erneut.',
  unavailable: 'Ein Teil des Dienstes ist zurzeit nicht verfügbar. Versuchen Sie es gleich noch einmal.',
  internal: 'In der Control Plane ist ein interner Fehler aufgetreten.',
  invalid_client: 'Der Client ist unbekannt, oder sein Geheimnis ist falsch oder fehlt.',
  unsupported_grant_type: 'Dieser Grant-Typ wird nicht unterstützt.',
  invalid_scope: 'Der Client hat eine Berechtigung angefordert, die er nicht hat.',
};
