/** Being told while away, in Bulgarian. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "away.switch": "Кажи ми, когато съм на ход, и при затворена страница",
  "away.switch.about": "Също за покани и за края на твои игри. Съобщенията минават през услугата за известия на браузъра, която не може да ги прочете.",
  "away.done": "Това устройство вече получава известия.",
  "away.failed": "Услугата за известия на този браузър не отговаря. Опитай по-късно.",
  "away.impossible": "Този браузър не може да показва съобщения при затворена страница.",
  "away.install": "На айфон или айпад първо добави страницата към началния екран и я отвори оттам.",
  "away.offer": "Да ти казваме ли, когато си на ход, и при затворена страница?",
  "away.offer.no": "Не, благодаря",
  "away.offer.yes": "Да, казвайте",
  "away.offline": "Няма връзка. Игрите продължават, когато се върнеш. Можеш да гледаш записите на това устройство.",
  "away.records": "Записи на това устройство",
  "away.turn.title": "{game}: на ход си",
  "away.invited.title": "{game}: имаш покана",
  "away.ended.title": "{game}: играта свърши",
  "away.with": "Стая {room}, с {names}",
  "away.room": "Стая {room}",
  "away.invited.text": "{names} те кани в стая {room}",
  "away.ended.text": "Място {place} в стая {room}, с {names}",
} satisfies Record<keyof typeof en, Text>;
