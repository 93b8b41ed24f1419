/** How large a JavaScript value is, approximately. */
export { type Constructor, registerSizeof } from "./registry.ts";
export { sizeof } from "./sizeof.ts";
