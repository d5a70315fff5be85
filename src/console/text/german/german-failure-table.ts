/**
 * Why a request was not served and what to do, in German, by failure code. English is what the API sends (`failure-remedy-table.ts`
 * of `#domain`). Codes about the form of a request stand in `german-message-table.ts`. Loaded if the language is German.
 */
import type { CauseTexts } from '../api-sentences.ts';

export const GERMAN_FAILURES: CauseTexts = {
  // Die Verbindung zum Dienst.
  'no-terminator': [
    'Zurzeit stellt kein Agent die Freigabe bereit.',
    'Starten Sie den Agenten, zu dem die Freigabe gehört, oder prüfen Sie ihn mit „frontdoor agents status“.',
  ],
  'service-refused': [
    'Der Dienst hinter der Freigabe nimmt keine Verbindungen an.',
    'Der Agent konnte das Ziel nicht erreichen: Starten Sie den Dienst, erlauben Sie das Ziel mit --allow-target oder korrigieren Sie das Ziel der Freigabe. Wenn TLS gescheitert ist, spricht der Dienst unverschlüsseltes HTTP (dann http:// verwenden), oder seinem Zertifikat wird nicht vertraut: Akzeptieren Sie es mit „frontdoor shares upstream change --target-pin“, oder geben Sie die Zertifizierungsstelle mit --target-ca, den Namen mit --target-server-name oder --target-insecure an.',
  ],
  'service-timeout': [
    'Der Dienst hinter der Freigabe hat die Verbindung nicht rechtzeitig angenommen.',
    'Prüfen Sie, ob der Dienst läuft und nicht überlastet ist. Er hat 5 Sekunden Zeit oder so lange, wie „frontdoor shares upstream change --connect-timeout“ festlegt.',
  ],
  'not-authorized': [
    'Das Gateway darf die Freigabe nicht erreichen, oder sie wurde gerade gelöscht.',
    'Prüfen Sie „frontdoor shares get“, danach das Log des Gateways.',
  ],
  'control-away': [
    'Keine Control Plane hat den Routern geantwortet; deshalb kam keine Verbindung zustande.',
    'Prüfen Sie, ob eine Control Plane läuft, und sehen Sie im Log der Router nach.',
  ],
  timeout: [
    'Die Verbindung zum Dienst kam nicht rechtzeitig zustande.',
    'Prüfen Sie „frontdoor fabric circuit list“ und ob Agent und Router verbunden sind.',
  ],
  'channel-closed': [
    'Die Verbindung zwischen Gateway und Router ist abgebrochen.',
    'Versuchen Sie es erneut. Wenn es so bleibt, sehen Sie im Log des Routers nach.',
  ],
  'circuit-closed': [
    'Die Verbindung zum Dienst ist abgebrochen.',
    'Sehen Sie im Log des Dienstes nach, danach in dem des Agenten.',
  ],
  overlay: [
    'Im Overlay-Netz kam keine Verbindung zum Dienst zustande.',
    'Die Meldung nennt den Grund; mehr steht in den Logs von Router und Control Plane.',
  ],
  'grpc-target': [
    'Ein Aufruf mit gRPC kam für eine Freigabe, deren Ziel HTTP/1.1 spricht.',
    'Geben Sie der Freigabe ein Ziel, das mit grpc:// beginnt, oder mit grpcs:// für einen Dienst mit TLS.',
  ],
  'no-answer': [
    'Der Dienst hat die Verbindung geschlossen, ohne zu antworten.',
    'Sehen Sie zu dieser Uhrzeit in seinem Log nach. Ein Dienst mit TLS braucht ein Ziel, das mit https:// beginnt.',
  ],
  'malformed-answer': [
    'Die Antwort des Dienstes verstößt gegen HTTP.',
    'Der Fehler liegt beim Dienst; die Meldung beschreibt ihn.',
  ],
  maintenance: [
    'Für die Freigabe ist der Wartungsmodus eingeschaltet.',
    '„frontdoor shares upstream change TOKEN --no-maintenance“ beendet ihn.',
  ],
  'obsolete-answer': [
    'Der Dienst antwortet in einer veralteten Form, die die Freigabe nicht akzeptiert.',
    'So antworten alte Geräte: eine Zeile ohne CR, ein Header über mehrere Zeilen, ein Leerzeichen vor dem Doppelpunkt oder zweimal dieselbe Content-Length. Aktualisieren Sie den Dienst, oder akzeptieren Sie seine Antworten mit „frontdoor shares upstream change --lenient“.',
  ],
  'foreign-host': [
    'Der Dienst akzeptiert den Host der Anfrage nicht.',
    'Folgen Sie der Meldung. Mit „frontdoor shares upstream change --host-header localhost“ (oder target) bekommt der Dienst seinen eigenen Host, und Adressen in Headern werden umgeschrieben.',
  ],
  'answer-timeout': [
    'Der Dienst hat nicht rechtzeitig geantwortet.',
    'Sehen Sie in seinem Log nach, oder geben Sie ihm mit „frontdoor shares policy change --response-timeout-seconds“ mehr Zeit.',
  ],
  'stream-idle': [
    'Zu lange wurden in keiner Richtung Daten gesendet.',
    'Lassen Sie eine Seite Keep-alive-Daten senden, oder erlauben Sie mit „frontdoor shares upstream change --idle-timeout“ längere Pausen.',
  ],
  busy: [
    'Für diese Freigabe warten zu viele Anfragen.',
    'Prüfen Sie, ob der Dienst langsam ist, oder starten Sie weitere Instanzen.',
  ],
  // Gateway und Control Plane.
  internal: [
    'Ein interner Fehler im Gateway.',
    'Sein Log enthält die Fehler-ID und den Stacktrace; bitte melden Sie ihn.',
  ],
  starting: [
    'Das Gateway hat seine Liste der Freigaben noch nicht erhalten.',
    'Versuchen Sie es erneut. Wenn es so bleibt, prüfen Sie, ob das Gateway die Control Plane erreicht.',
  ],
  'share-unreadable': [
    'Das Gateway kann die Regeln der Freigabe nicht lesen und weist deshalb alle Anfragen ab.',
    'Verwenden Sie für Gateway und Control Plane dieselbe Version, oder setzen Sie die Regeln mit „frontdoor shares policy set“ neu.',
  ],
  'not-decided': [
    'Der Aufrufer konnte nicht rechtzeitig geprüft werden.',
    'Prüfen Sie, ob das Gateway die Control Plane und die Control Plane den Anmeldeanbieter erreicht.',
  ],
  'control-plane-away': [
    'Das Gateway hatte seit einer Minute keinen Kontakt zur Control Plane.',
    'Bis dahin weist es alle ab, deren Identität geprüft werden muss. Prüfen Sie, ob das Gateway die Edge-API erreicht.',
  ],
  'port-closed': [
    'Ein Gateway kann den Port der Freigabe nicht öffnen.',
    'Geben Sie den Port auf dem Rechner des Gateways frei, oder geben Sie der Freigabe mit „frontdoor shares change --ingress-port“ einen anderen.',
  ],
  'port-guarded': [
    'Die Freigabe verlangt eine Anmeldung, die dort niemand leisten kann.',
    'Entfernen Sie ihre Anmeldeanbieter und die Regeln emails, claims, basicAuth und clientCertificate, oder machen Sie die Freigabe privat.',
  ],
  withdrawn: [
    'Die Freigabe wurde während der Anfrage gelöscht, umbenannt oder privat.',
    'Das Aktivitätsprotokoll zeigt, wer sie geändert hat.',
  ],
  'client-gone': [
    'Der Client hat die Verbindung vor der Antwort getrennt.',
    'Wenn Besucher zu lange warten, zeigen die Zeiten der Anfrage, welcher Teil langsam war.',
  ],
  // Die angefragte Adresse.
  'unknown-host': [
    'Keine Freigabe hat diesen Hostnamen.',
    'Vergleichen Sie ihn mit den Adressen in „frontdoor shares list“.',
  ],
  misdirected: [
    'Der TLS-Servername und der Host-Header gehören zu verschiedenen Freigaben.',
    'Der Client hat eine Verbindung wiederverwendet, die er für eine andere Freigabe geöffnet hatte. Er sollte für jeden Host eine eigene öffnen.',
  ],
  'unknown-path': [
    'Unter /.frontdoor/ gibt es diese Seite nicht.',
    'Das Gateway reserviert diese Pfade für An- und Abmeldung; der Dienst darf sie nicht verwenden.',
  ],
  'wrong-method': [
    'Die Seite unter /.frontdoor/ unterstützt diese Methode nicht.',
    'Öffnen Sie die Seiten zum An- und Abmelden mit GET. Nur die Schaltfläche zum Abmelden sendet POST.',
  ],
  'head-timeout': [
    'Die Header der Anfrage sind nicht rechtzeitig angekommen.',
    'Das Netz des Clients ist langsam, oder er öffnet Verbindungen, bevor er sie braucht.',
  ],
  'body-too-slow': [
    'Der Inhalt der Anfrage kam zu langsam an.',
    'Prüfen Sie das Netz des Clients, oder laden Sie aus einem anderen Netz hoch.',
  ],
  // Zugriff.
  'access-expired': [
    'Der Zugriff ist abgelaufen.',
    'Setzen Sie mit „frontdoor shares policy set“ ein neues „expiresAt“, oder entfernen Sie es.',
  ],
  'address-denied': [
    'Das Netz des Clients ist gesperrt.',
    'Soll er Zugriff haben, entfernen Sie das Netz mit „frontdoor shares policy change --remove-ip-deny“ aus der Sperrliste.',
  ],
  'address-not-allowed': [
    'Das Netz des Clients ist nicht erlaubt.',
    'Soll er Zugriff haben, nehmen Sie das Netz in die Liste der erlaubten auf.',
  ],
  'certificate-missing': [
    'Der Client hat kein Zertifikat vorgelegt.',
    'Die Freigabe verlangt ein Client-Zertifikat: Installieren Sie eines im Client, verwenden Sie https, und prüfen Sie, dass kein Proxy vor dem Gateway TLS beendet.',
  ],
  'certificate-not-trusted': [
    'Das Zertifikat des Clients stammt von keiner vertrauten Stelle oder ist derzeit nicht gültig.',
    'Prüfen Sie Aussteller und Gültigkeit des Zertifikats und die Zertifizierungsstellen in clientCertificate.',
  ],
  'certificate-not-allowed': [
    'Kein Name im Zertifikat des Clients ist erlaubt.',
    'Nehmen Sie seinen Common Name, einen DNS-Namen oder eine E-Mail-Adresse in clientCertificate.names auf.',
  ],
  'path-ambiguous': [
    'Der Pfad der Anfrage ist mehrdeutig.',
    'Mit öffentlichen Pfaden muss er eindeutig sein: keine kodierten Schrägstriche oder Punkte, keine leeren Abschnitte und keine aus Punkten. Das gilt auch für den Pfad des Ziels.',
  ],
  'credential-missing': [
    'Die Anfrage enthält keine Zugangsdaten.',
    'Die Freigabe verlangt einen API-Schlüssel, ein Token, ein Passwort oder eine Anmeldung.',
  ],
  'credential-wrong': [
    'Die Zugangsdaten gehören zu keinem Anmeldeanbieter der Freigabe.',
    'Vielleicht wurden sie widerrufen. „frontdoor auth-providers get“ zeigt die Schlüssel eines Anbieters.',
  ],
  'credential-doubled': [
    'Die Anfrage enthält zweimal Zugangsdaten derselben Art.',
    'Senden Sie sie nur einmal.',
  ],
  'provider-disabled': [
    'Jeder passende Anmeldeanbieter ist deaktiviert.',
    'Aktivieren Sie ihn mit „frontdoor auth-providers change ID --enabled“.',
  ],
  'login-not-available': [
    'Kein aktiver Anmeldeanbieter der Freigabe erlaubt eine Anmeldung im Browser.',
    'Aktivieren Sie einen solchen Anbieter, oder weisen Sie der Freigabe einen zu.',
  ],
  'issuer-away': [
    'Die Schlüssel des OpenID-Ausstellers sind nicht bekannt.',
    'Die Control Plane konnte sie nicht abrufen und seine Tokens deshalb nicht prüfen. Der Grund steht in ihrem Log.',
  ],
  'email-missing': [
    'Die Anmeldung hat keine bestätigte E-Mail-Adresse.',
    'Die Freigabe verlangt eine, und der Anmeldeanbieter hat keine bestätigte gesendet.',
  ],
  'email-not-allowed': [
    'Die E-Mail-Adresse ist nicht erlaubt.',
    'Soll die Person Zugriff haben, nehmen Sie die Adresse mit „frontdoor shares policy change --add-email“ auf.',
  ],
  'claim-not-met': [
    'Die Claims des Aufrufers erfüllen die Regeln nicht.',
    '„frontdoor shares who-can-reach“ zeigt, was verlangt wird.',
  ],
  'person-unprovable': [
    'Die Regeln betreffen Personen, aber kein Anmeldeanbieter der Freigabe weist Personen aus.',
    'Weisen Sie der Freigabe mit „frontdoor shares change --auth-provider-id“ einen Anbieter zu, bei dem sich Personen anmelden, oder entfernen Sie diese Regeln mit „frontdoor shares policy change“.',
  ],
  'rate-limited': [
    'Der Aufrufer hat mehr Anfragen gesendet, als erlaubt sind.',
    'Warten Sie so lange, wie Retry-After angibt, oder erhöhen Sie die Grenze mit „frontdoor shares policy change --rate-limit“.',
  ],
  'access-ended': [
    'Der Aufrufer hat keinen Zugriff mehr.',
    'Seine Zugangsdaten wurden widerrufen, sind abgelaufen oder reichen nicht mehr aus, oder die Person hat sich abgemeldet.',
  ],
  'too-many-wrong': [
    'Aus diesem Netz kamen zu viele falsche Zugangsdaten.',
    'Es muss so lange warten, wie Retry-After angibt. Suchen Sie dort das Programm, das einen alten Schlüssel oder ein altes Passwort verwendet.',
  ],
  'other-origin': [
    'Eine Seite mit anderem Ursprung hat die Anfrage gesendet.',
    'Sie nutzte dafür die Anmeldung des Browsers. Erlauben Sie den Ursprung mit „frontdoor shares policy change --add-allowed-origin“, oder lassen Sie das Skript einen Schlüssel oder ein Token verwenden.',
  ],
  // Anmeldungen.
  'login-provider-not-available': [
    'Der Anmeldeanbieter ist derzeit nicht verfügbar.',
    'Er ist deaktiviert oder gehört nicht mehr zur Freigabe.',
  ],
  'login-provider-failed': [
    'Der Anmeldeanbieter war nicht erreichbar oder hat unerwartet geantwortet.',
    'Sehen Sie im Log der Control Plane nach, und prüfen Sie, ob --allow-egress seine Adresse erlaubt.',
  ],
  'login-attempt-not-valid': [
    'Die Anmeldung ist abgelaufen, wurde schon verwendet oder gehört zu einem anderen Browser.',
    'Beginnen Sie die Anmeldung neu; sie darf höchstens zehn Minuten dauern.',
  ],
  'login-denied': [
    'Die Anmeldung wurde abgelehnt.',
    'Der Anmeldeanbieter hat sie verweigert, oder die Person hat sie abgebrochen. Prüfen Sie, ob die Person diesen Client dort verwenden darf.',
  ],
  'login-email-not-verified': [
    'Das Konto hat keine bestätigte E-Mail-Adresse.',
    'Die Freigabe verlangt eine. Die Person muss ihre Adresse beim Anmeldeanbieter bestätigen.',
  ],
  'login-too-many': [
    'Aus diesem Netz laufen zu viele Anmeldungen gleichzeitig.',
    'Warten Sie eine Minute. Ein Programm, das Weiterleitungen zur Anmeldung folgt, braucht stattdessen einen Schlüssel oder ein Token.',
  ],
  // Proxys vor dem Gateway.
  'too-many-at-once': [
    'Von dieser Adresse laufen zu viele Anfragen gleichzeitig.',
    'Erhöhen Sie --max-connections-per-address, oder suchen Sie das Programm, das so viele Anfragen und WebSockets durch die Proxys vor dem Gateway öffnet.',
  ],
  'https-required': [
    'Ein Aufruf mit gRPC kam ohne TLS, und die Richtlinie der Freigabe leitet zu HTTPS um.',
    'Der Client muss TLS verwenden, denn Clients von gRPC folgen keiner Umleitung. Oder stellen Sie „httpsRedirect“ der Richtlinie auf „never“.',
  ],
  'proxy-scheme-unknown': [
    'Die Seite verlangt HTTPS, und der Proxy vor dem Gateway meldet nicht, ob der Client es verwendet.',
    'Nennen Sie die Adresse des Proxys in --trusted-proxies des Gateways, und lassen Sie ihn X-Forwarded-Proto setzen. Ohne beides würden Browser im Kreis weitergeleitet.',
  ],
  // Die Form der Anfrage.
  'cookies-too-large': [
    'Der Browser hat mehr Cookies gesendet, als in eine Anfrage passen.',
    'Die Antwort hat sie gelöscht, die nächste Anfrage gelingt also. Passiert es wieder, setzt dieser Dienst oder ein anderer derselben Domain zu viele Cookies.',
  ],
};
