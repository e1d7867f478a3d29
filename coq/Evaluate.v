(** The tactics that decide a certificate's numerical statement, by interval arithmetic.

    They prove or they fail; which one they try decides no theorem. *)

From Coq Require Import Reals Lra List ZArith.
From Coquelicot Require Import Coquelicot.
From Interval Require Export Tactic.
From Symacct Require Export FiniteLaws Published WholeOrders RealOrders Response.
Open Scope R_scope.

(** Pascal's rows as literals. *)
Ltac rows :=
  repeat match goal with
  | |- context [pascal_row ?n] =>
      let row := eval vm_compute in (pascal_row n) in
      replace (pascal_row n) with row by (vm_cast_no_check (eq_refl row))
  end.

(** The curve of a mechanism at a whole order as a plain formula, at so many bits. *)
Ltac evaluate_whole bits :=
  cbv [whole computed_moment moment_at improved classic
       gaussian laplace responding pure truth concentrated Z.of_nat Pos.of_succ_nat Pos.succ];
  rows;
  cbv [weigh Nat.sub Z.of_nat Pos.of_succ_nat Pos.succ];
  interval with (i_prec bits).

(** A bound that names no integral. *)
Ltac evaluate bits :=
  cbv [spent fst snd improved classic gaussian laplace responding pure truth concentrated
       sampled_response removed_response power];
  interval with (i_prec bits).

(** Parameters within their ranges. *)
Ltac in_range := cbv [valid fst snd]; repeat split; lra.
