/**
 * The values from which TPC-H's columns are drawn, as its definition lists them: the queries ask for some of them by
 * name.
 */

export const REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"] as const;

/** Name of the nation and number of its region; the nation's key is its position in the list. */
export const NATIONS: readonly (readonly [string, number])[] = [
  ["ALGERIA", 0],
  ["ARGENTINA", 1],
  ["BRAZIL", 1],
  ["CANADA", 1],
  ["EGYPT", 4],
  ["ETHIOPIA", 0],
  ["FRANCE", 3],
  ["GERMANY", 3],
  ["INDIA", 2],
  ["INDONESIA", 2],
  ["IRAN", 4],
  ["IRAQ", 4],
  ["JAPAN", 2],
  ["JORDAN", 4],
  ["KENYA", 0],
  ["MOROCCO", 0],
  ["MOZAMBIQUE", 0],
  ["PERU", 1],
  ["CHINA", 2],
  ["ROMANIA", 3],
  ["SAUDI ARABIA", 4],
  ["VIETNAM", 2],
  ["RUSSIA", 3],
  ["UNITED KINGDOM", 3],
  ["UNITED STATES", 1],
];

export const SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
export const PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
export const INSTRUCTIONS = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
export const MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];

/** A part's type and container are combined from words like these. */
export const TYPES = [
  ["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"],
  ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
  ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"],
] as const;
export const CONTAINERS = [
  ["SM", "LG", "MED", "JUMBO", "WRAP"],
  ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"],
] as const;

/** Five of these name a part. */
export const COLOURS = (
  "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon " +
  "chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro " +
  "ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon " +
  "medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder " +
  "puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle " +
  "tomato turquoise violet wheat white yellow"
).split(" ");
