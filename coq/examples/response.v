(* 100*RandomizedResponse('11/20')

   is (10.4151, 1e-5)-DP: at the order 3.48, by the improved conversion.
   Neighbours: of either relation.
   It rests on nothing but the axioms of Coq's real numbers and machine integers.
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := (104151 / 10000).
Definition delta : R := (1 / 100000).
Definition alpha : R := (87 / 25).
(* How often, and the pair (p, γ): the truth is told with probability p, of a sample of rate γ. *)
Definition runs : list (positive * (R * R)) :=
  [(100%positive, ((11 / 20), 1))].
Definition costs_of_runs : list R := [(661439 / 10000000)].

Lemma each_costs : response_costs alpha runs costs_of_runs.
Proof.
  unfold response_costs, runs, costs_of_runs, alpha.
  repeat (apply Forall2_cons; [split; evaluate 73%positive |]). apply Forall2_nil.
Qed.

Theorem numerical : spent runs costs_of_runs + improved alpha delta <= epsilon.
Proof. unfold runs, costs_of_runs, alpha, epsilon, delta. evaluate 73%positive. Qed.

(* In whatever order they are run, and however what was answered decides between the laws. *)
Theorem guarantee : forall schedule (s : strategy bool (length schedule)),
  Permutation schedule (kinds_of runs) -> scheduled response_of schedule s ->
  protects (run s) epsilon delta.
Proof.
  apply (response_improved alpha runs costs_of_runs).
  - unfold alpha. lra.
  - unfold delta. lra.
  - unfold possible, runs. repeat (apply Forall_cons; [simpl; lra |]). apply Forall_nil.
  - exact each_costs.
  - exact numerical.
Qed.
