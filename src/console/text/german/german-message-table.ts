/** Requests whose form a gateway refuses, in German, by failure code: see `message-refusal-table.ts` of `#domain`. */
import type { CauseTexts } from '../api-sentences.ts';

export const GERMAN_MESSAGE_REFUSALS: CauseTexts = {
  'bare-line-feed': [
    'Eine Zeile endet ohne Wagenrücklauf (CR).',
    'Der Client muss jede Zeile der Header mit CR und LF beenden. Von Hand geschriebene Anfragen und alte Skripte senden oft nur LF.',
  ],
  'malformed-request-line': [
    'Die erste Zeile der Anfrage ist fehlerhaft.',
    'Sie muss aus Methode, Ziel und HTTP/1.1 bestehen, durch je ein Leerzeichen getrennt. Andere Protokolle, etwa SSH oder HTTP/2 ohne TLS, bedient dieser Port nicht.',
  ],
  'tls-on-plain-port': [
    'Dieser Port spricht unverschlüsseltes HTTP, die Anfrage begann aber mit TLS.',
    'Der Client muss für diesen Port http:// verwenden oder den TLS-Port des Gateways: siehe --https-port und das Schema eines Load Balancers davor.',
  ],
  'plain-on-tls-port': [
    'Dieser Port spricht HTTPS, die Anfrage kam aber unverschlüsselt.',
    'Der Client muss für diesen Port https:// verwenden oder den HTTP-Port des Gateways: siehe das Schema eines Load Balancers davor.',
  ],
  'malformed-status-line': [
    'Die Statuszeile der Antwort ist fehlerhaft.',
    'Der Dienst muss seine Antwort mit HTTP/1.1 und einem dreistelligen Status beginnen.',
  ],
  'unsupported-version': [
    'Nur HTTP 1.1 und 1.0 werden unterstützt.',
    'Der Client muss HTTP/1.1 verwenden. Für HTTP/2 ist ein Proxy vor dem Gateway nötig.',
  ],
  'refused-method': [
    'Diese Methode wird nicht unterstützt.',
    'Erlaubt sind die Methoden im Allow-Header der Antwort. CONNECT und TRACE werden nie weitergeleitet.',
  ],
  'malformed-target': [
    'Das Ziel der Anfrage ist fehlerhaft oder mehrdeutig.',
    'Der Client muss einen Pfad senden, der mit / beginnt. Leerzeichen, Fragmente und Zeichen außerhalb von ASCII werden prozentkodiert.',
  ],
  'foreign-authority': [
    'Das Ziel der Anfrage nennt einen anderen Host als der Host-Header.',
    'Der Client muss in beiden denselben Host nennen. Prüfen Sie seine Proxy-Einstellungen.',
  ],
  'malformed-field': [
    'Eine Header-Zeile ist fehlerhaft.',
    'Der Client muss jeden Header als NAME: WERT senden, ohne Leerzeichen vor dem Doppelpunkt. Uhrzeit und Adresse des Clients stehen im Zugriffslog.',
  ],
  'folded-field': [
    'Ein Header geht über mehrere Zeilen.',
    'Der Client muss jeden Header in einer Zeile senden; HTTP/1.1 erlaubt keine Fortsetzungszeilen mehr.',
  ],
  'control-byte': [
    'Ein Header enthält ein Steuerzeichen.',
    'Oft endet ein Wert, den ein Skript in einen Header schreibt, mit einem Zeilenumbruch.',
  ],
  'disguised-field': [
    'Ein Header, der die Länge der Anfrage bestimmt, ist mit Unterstrich geschrieben.',
    'Der Client muss Bindestriche verwenden, etwa Content-Length. Manche Dienste lesen Unterstriche als Bindestriche und ließen sich täuschen.',
  ],
  'missing-host': [
    'Der Host-Header fehlt.',
    'Der Client muss einen mit dem Namen der Freigabe senden. Bei Health Checks von Load Balancern fehlt er oft.',
  ],
  'doubled-host': [
    'Die Anfrage hat mehr als einen Host-Header.',
    'Wahrscheinlich fügt ein Proxy vor dem Gateway einen zweiten hinzu.',
  ],
  'malformed-host': [
    'Der Host-Header ist fehlerhaft.',
    'Er muss den Namen der Freigabe enthalten, dahinter höchstens einen Port.',
  ],
  'doubled-length': [
    'Die Anfrage hat mehr als eine Content-Length.',
    'Der Client oder der Proxy vor dem Gateway darf nur eine senden.',
  ],
  'malformed-length': [
    'Die Content-Length ist fehlerhaft.',
    'Der Client muss die Länge des Inhalts als Dezimalzahl senden.',
  ],
  'length-and-coding': [
    'Content-Length und Transfer-Encoding schließen einander aus.',
    'Der Client darf nur eines von beiden senden. Beide zusammen sind ein bekannter Angriff auf Proxys.',
  ],
  'unsupported-coding': [
    'Als Transfer-Encoding wird nur chunked unterstützt, und nur einmal.',
    'Der Client muss den Inhalt mit Transfer-Encoding: chunked oder mit seiner Länge senden. Zum Komprimieren dient Content-Encoding.',
  ],
  'coding-in-old-version': [
    'HTTP/1.0 kennt kein Transfer-Encoding.',
    'Der Client muss für chunked HTTP/1.1 verwenden oder die Länge des Inhalts senden.',
  ],
  'malformed-connection': [
    'Der Connection-Header ist fehlerhaft.',
    'Er enthält Namen von Headern, durch Kommas getrennt.',
  ],
  'unknown-expectation': [
    'Nur die Erwartung 100-continue wird unterstützt.',
    'Der Client darf keinen Expect-Header senden oder nur Expect: 100-continue.',
  ],
  'malformed-chunk': [
    'Der in Blöcken gesendete Inhalt ist fehlerhaft.',
    'Der Absender muss die Größe jedes Blocks hexadezimal angeben und mit einem Block der Größe 0 enden.',
  ],
  'target-too-long': [
    'Die Adresse der Anfrage ist zu lang.',
    'Kürzen Sie sie: Lange Daten gehören in den Inhalt einer POST-Anfrage.',
  ],
  'head-too-large': [
    'Die Header sind zu groß.',
    'Meist liegt es an großen Tokens oder Cookies. Das Gateway akzeptiert mit --max-header-bytes mehr.',
  ],
  'too-many-fields': [
    'Die Anfrage hat zu viele Header.',
    'Vielleicht fügt ein Proxy vor dem Gateway denselben Header immer wieder hinzu. Das Gateway akzeptiert mit --max-header-fields mehr.',
  ],
  'too-many-heads': [
    'Zu viele Anfragen treffen gleichzeitig ein.',
    'Clients haben mehr unfertige oder große Header offen, als das Gateway im Speicher hält. Suchen Sie Clients, die langsam senden oder sehr große Cookies haben, oder betreiben Sie mehr Worker oder Gateways.',
  ],
  'malformed-forwarding': [
    'Der Proxy vor dem Gateway meldet einen Client, der sich nicht lesen lässt.',
    'Der vertraute Proxy muss die Adresse seines Clients an das Ende von X-Forwarded-For setzen (oder in Forwarded, RFC 7239) und http oder https in X-Forwarded-Proto.',
  ],
  'conflicting-forwarding': [
    'X-Forwarded-For und Forwarded nennen verschiedene Clients.',
    'Der vertraute Proxy muss den Header entfernen, den er nicht selbst setzt: Ein Client oder ein anderer Proxy hat ihn gesendet.',
  ],
};
